// expect: glaive: the state of a key has at most 4096 bytes, those of the key included
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Fold(std::array<char, 4096>{}, [](std::array<char, 4096>& state, const Click&) { state[0] = 'x'; })
                 .To(Discard{});

}  // namespace glaive::engine

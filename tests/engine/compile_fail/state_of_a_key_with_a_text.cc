// expect: glaive: a state has no Text, whose bytes are gone when the next record comes: store them in a
// std::array<char, N>
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Scan(Text(), [](Text& last, const Click&) { last = Text("page"); });

}  // namespace glaive::engine

// expect: glaive: the state of a loop is plain data without Text: numbers, and arrays of them
#include "engine/api/generated.h"
#include "engine/api/loop.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Replay(
                 FromRange(0, 9), {}, std::string("none"), [](auto numbers, const auto&) { return numbers; }, Count{},
                 [](std::string&, std::uint64_t) { return false; })
                 .To(Discard{});

}  // namespace glaive::engine

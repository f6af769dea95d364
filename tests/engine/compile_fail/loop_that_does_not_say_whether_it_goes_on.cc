// expect: glaive: the last function of a loop takes its state, State&, and the aggregate of an iteration
#include "engine/api/generated.h"
#include "engine/api/loop.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Replay(
                 FromRange(0, 9), {}, 0, [](auto numbers, const auto&) { return numbers; }, Count{},
                 [](int& iterations, std::uint64_t) { ++iterations; })
                 .To(Discard{});

}  // namespace glaive::engine

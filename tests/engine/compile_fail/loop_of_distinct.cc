// expect: glaive: the aggregate of a loop has no Distinct{}
#include "engine/api/generated.h"
#include "engine/api/loop.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Replay(
                 FromRange(0, 9), {}, 0, [](auto numbers, const auto&) { return numbers; }, Distinct{std::identity()},
                 [](int&, std::uint64_t) { return false; })
                 .To(Discard{});

}  // namespace glaive::engine

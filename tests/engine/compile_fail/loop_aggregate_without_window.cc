// expect: glaive: event times in the body of a loop are the numbers of its iterations: no WithoutEventTime() there
#include "engine/api/generated.h"
#include "engine/api/loop.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Replay(
        FromRange(0, 9), {}, 0, [](auto numbers, const auto&) { return std::move(numbers).Aggregate(Count{}); },
        Count{}, [](int&, std::uint64_t) { return false; })
        .To(Discard{});

}  // namespace glaive::engine

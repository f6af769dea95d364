// expect: glaive: the body of a loop is a function of a stream and a LoopState that returns a stream
#include "engine/api/generated.h"
#include "engine/api/loop.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Replay(
        FromRange(0, 9), {}, 0, [](auto numbers, const auto&) { return std::move(numbers).KeyBy(std::identity()); },
        Count{}, [](int&, std::uint64_t) { return false; })
        .To(Discard{});

}  // namespace glaive::engine

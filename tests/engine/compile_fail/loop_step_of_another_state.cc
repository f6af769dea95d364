// expect: glaive: this step takes a function of a record, const Record&, and of a second value: of JoinTable()
#include "engine/api/generated.h"
#include "engine/api/loop.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Replay(
                 FromRange(0, 9), {}, 0,
                 [](auto numbers, const LoopState<int>& iterations) {
                   return iterations.Map(std::move(numbers), [](std::uint64_t number) { return number; });
                 },
                 Count{}, [](int&, std::uint64_t) { return false; })
                 .To(Discard{});

}  // namespace glaive::engine

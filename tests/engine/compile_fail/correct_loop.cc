// expect: nothing
#include "engine/api/generated.h"
#include "engine/api/loop.h"
#include "engine/api/together.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto replayed =
    Replay(
        Clicks(), {.most_iterations = 3}, 1.5,
        [](auto clicks, const LoopState<double>& price) {
          return price.Filter(std::move(clicks), [](const Click& click, double now) { return click.price > now; })
              .KeyBy(&Click::page)
              .Window(EachIteration())
              .Aggregate(Count{});
        },
        Several{Count{}, Max{[](const auto& row) { return row.value; }}},
        [](double& price, const auto& iteration) { return (price += 1) < std::get<0>(iteration); })
        .To(Discard{});

auto iterated = [] {
  auto [state, records] = Iterate(
      FromRange(0, 9), {}, std::uint64_t{0},
      [](auto numbers, const LoopState<std::uint64_t>& iterations) {
        return iterations.FlatMap(std::move(numbers), [](std::uint64_t number, std::uint64_t iteration) {
          return std::vector<std::uint64_t>(number % 2, iteration);
        });
      },
      Count{}, [](std::uint64_t& iterations, std::uint64_t count) { return ++iterations < count; });
  return Together(std::move(state).To(Discard{}), std::move(records).To(Discard{}));
}();

}  // namespace glaive::engine

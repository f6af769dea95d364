// Loops: records that are replayed, fed back and moved in iterations, windows of an iteration, and a loop inside of
// another one. The oracle runs the iterations one after the other.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/api/loop.h"
#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

/// The number of iterations, and a sum over them.
using Iterations = std::array<std::int64_t, 2>;

constexpr std::int64_t kMostIterations = 4;

RecordRow RowOfIterations(const Iterations& iterations) {
  return {.key = static_cast<std::uint64_t>(iterations[0]), .value = iterations[1]};
}
std::string TextOfIterations(const Iterations& iterations) {
  return RowText({}, PlainText(static_cast<std::uint64_t>(iterations[0])), absl::StrCat(iterations[1]));
}
template <typename SumT>
bool AddIteration(Iterations& iterations, const SumT& sum) {
  iterations = {iterations[0] + 1, (iterations[1] * 3 + static_cast<std::int64_t>(sum)) % 1'000'003};
  return iterations[0] < kMostIterations;
}

// The body of the loop that replays.
bool IsSelected(const Event& event, const Iterations& iterations) { return event.amount % (iterations[0] + 2) == 0; }

// The body of the loop that iterates.
Event Halved(Event event) {
  event.amount /= 2;
  return event;
}
bool GoesOn(const Event& event) { return event.amount % 3 != 0; }

/// How many records of a key there are, scaled by the sum so far.
std::int64_t Scaled(std::uint64_t count, const Iterations& iterations) {
  return static_cast<std::int64_t>(count) * (iterations[1] % 100 + 1);
}

CatalogueEntry WithLoop(std::string_view name, std::string_view step, bool has_few_rows,
                        std::function<std::unique_ptr<Query>(const QueryParts&)> build,
                        std::function<std::vector<std::string>(const std::vector<Seen>&)> rows) {
  CatalogueEntry entry =
      Having({step}, WithoutStage(name, std::move(build),
                                  [rows = std::move(rows)](const Input& input) { return rows(Read(input, 0)); }));
  entry.rows_wait_for = RowsWaitFor::kOwnTimes;
  entry.has_few_rows = has_few_rows;
  return entry;
}

std::vector<std::string> ReplayedRows(const std::vector<Seen>& seen) {
  Iterations iterations{};
  bool goes_on = true;
  while (goes_on) {
    std::int64_t sum = 0;
    for (const Seen& each : seen) sum += IsSelected(each.event, iterations) ? each.event.amount : 0;
    goes_on = AddIteration(iterations, sum);
  }
  return {TextOfIterations(iterations)};
}

std::vector<std::string> IteratedRows(const std::vector<Seen>& seen) {
  std::vector<Event> events;
  for (const Seen& each : seen) events.push_back(each.event);
  for (std::int64_t iteration = 0; iteration < kMostIterations; ++iteration) {
    std::vector<Event> next;
    for (const Event& event : events) {
      if (GoesOn(Halved(event))) next.push_back(Halved(event));
    }
    events = std::move(next);
  }
  std::vector<std::string> rows;
  for (const Event& event : events) rows.push_back(RecordRowText(event));
  return rows;
}

std::vector<std::string> NestedRows(const std::vector<Seen>& seen) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const Seen& each : seen) ++counts[each.event.key];
  Iterations outer{};
  bool outer_goes_on = true;
  while (outer_goes_on) {
    Iterations inner{};
    bool inner_goes_on = true;
    while (inner_goes_on) {
      std::int64_t sum = 0;
      for (const auto& [key, count] : counts) sum += Scaled(count, inner);
      inner_goes_on = AddIteration(inner, sum);
    }
    outer_goes_on = AddIteration(outer, inner[1]);
  }
  return {TextOfIterations(outer)};
}

}  // namespace

std::vector<CatalogueEntry> LoopQueries() {
  return {
      WithLoop(
          "records replayed", "Replay", /*has_few_rows=*/true,
          [](const QueryParts& parts) {
            return Replay(
                       FirstOfAll(parts), {}, Iterations{},
                       [](auto events, const LoopState<Iterations>& iterations) {
                         return iterations.Filter(std::move(events).Shuffle(), &IsSelected);
                       },
                       Sum{&Event::amount},
                       [](Iterations& iterations, const auto& sum) { return AddIteration(iterations, sum); })
                .Map(&RowOfIterations)
                .To(StoreRows{parts.rows});
          },
          &ReplayedRows),
      WithLoop(
          "records fed back", "Iterate", /*has_few_rows=*/false,
          [](const QueryParts& parts) {
            return Iterate(
                       FirstOfAll(parts), {.most_iterations = kMostIterations}, Iterations{},
                       [](auto events, const LoopState<Iterations>&) {
                         return std::move(events).Map(&Halved).Filter(&GoesOn).KeyBy(&Event::key).Partition().DropKey();
                       },
                       Count{}, [](Iterations&, std::uint64_t) { return true; })
                .records.Map(&RecordRowOf)
                .To(StoreRows{parts.rows});
          },
          &IteratedRows),
      WithLoop(
          "a loop in each iteration of a loop", "Replay", /*has_few_rows=*/true,
          [](const QueryParts& parts) {
            const auto add = [](Iterations& iterations, const auto& sum) { return AddIteration(iterations, sum); };
            return Replay(
                       FirstOfAll(parts), {}, Iterations{},
                       [add](auto events, const LoopState<Iterations>&) {
                         return Replay(
                             std::move(events).KeyBy(&Event::key).Window(EachIteration()).Aggregate(Count{}), {},
                             Iterations{},
                             [](auto counts, const LoopState<Iterations>& iterations) {
                               return iterations.Map(std::move(counts), [](const auto& row, const Iterations& so_far) {
                                 return Scaled(row.value, so_far);
                               });
                             },
                             Sum{[](std::int64_t scaled) { return scaled; }}, add);
                       },
                       Sum{[](const Iterations& inner) { return inner[1]; }}, add)
                .Map(&RowOfIterations)
                .To(StoreRows{parts.rows});
          },
          &NestedRows)};
}

}  // namespace glaive::sim

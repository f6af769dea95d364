// Streams of which a record becomes none, one or two.

#include <cstdlib>
#include <vector>

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kCopiesWindowMs = 600;
constexpr std::int64_t kDigitsWindowMs = 1'800;

// The engine's functions.
std::vector<Event> CopiesOf(const Event& event) {
  std::vector<Event> copies(event.kind, event);  // 0, 1 or 2
  if (copies.size() == 2) copies.back().amount += 7;
  return copies;
}
std::vector<std::uint64_t> DigitsOf(const Summed& row) {
  auto rest = static_cast<std::uint64_t>(row.value < 0 ? -row.value : row.value);
  std::vector<std::uint64_t> digits;
  for (; rest > 0; rest /= 10) digits.push_back(rest % 10);
  return digits;
}

// The oracle's.
std::vector<Seen> SeenCopies(const Input& input) {
  std::vector<Seen> copies;
  for (const Seen& seen : Read(input, 0)) {
    for (std::uint64_t copy = 0; copy < seen.event.kind; ++copy) {
      copies.push_back(seen);
      copies.back().event.amount += copy == 1 ? 7 : 0;
    }
  }
  return copies;
}
/// A record of the next stage for each digit, whose key it is.
std::vector<Seen> SeenDigits(const std::vector<Seen>& sums) {
  std::vector<Seen> digits;
  for (const Seen& sum : sums) {
    for (auto rest = static_cast<std::uint64_t>(std::abs(sum.event.amount)); rest > 0; rest /= 10) {
      digits.push_back(sum);
      digits.back().event.key = rest % 10;
    }
  }
  return digits;
}

CatalogueEntry CopiesInWindows() {
  return {.name = "sums of records that become none, one or two",
          .window = "tumbling",
          .aggregates = {"sum"},
          .join = "",
          .build =
              [](const QueryParts& parts) {
                auto copies = FirstOfAll(parts).FlatMap(&CopiesOf);
                return Judged(std::move(copies).KeyBy(&Event::key).Window(Tumbling{Millis(kCopiesWindowMs)}), parts)
                    .Aggregate(Sum{&Event::amount})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups groups = GroupByWindows(SeenCopies(input), kCopiesWindowMs, kCopiesWindowMs, KeyOf, late);
                return Expected{.rows = RowsOf(groups, SumOf), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry DigitsOfSums() {
  return {.name = "digits of sums, counted",
          .window = "tumbling",
          .aggregates = {"sum"},
          .join = "",
          .shape = "two stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [](const QueryParts& parts) {
                return Judged(FirstOfAll(parts).KeyBy(&Event::key).Window(Tumbling{Millis(kCopiesWindowMs)}), parts)
                    .Aggregate(Sum{&Event::amount})
                    .FlatMap(&DigitsOf)
                    .KeyBy([](std::uint64_t digit) { return digit; })  // not HandedOnBy: a row hands on several
                    .Window(Tumbling{Millis(kDigitsWindowMs)})
                    .Aggregate(Count{})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups sums = GroupByWindows(Read(input, 0), kCopiesWindowMs, kCopiesWindowMs, KeyOf, late);
                const Groups digits =
                    Regrouped(SeenDigits(ResultsOf(sums, PlainSum)), TumblingOf(kDigitsWindowMs), KeyOf);
                return Expected{.rows = RowsOf(digits, CountOf), .late = LateRowsOf(late)};
              }};
}

}  // namespace

std::vector<CatalogueEntry> FlatMapQueries() { return {CopiesInWindows(), DigitsOfSums()}; }

}  // namespace glaive::sim

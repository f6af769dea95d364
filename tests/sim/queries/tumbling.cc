#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kSizeMs = 700;

CatalogueEntry FilteredAndMapped() {
  return {.name = "tumbling sum of what is filtered and mapped",
          .window = "tumbling",
          .aggregates = {"sum"},
          .join = "",
          .build =
              [](const QueryParts& parts) {
                auto mapped = FirstOfAll(parts)
                                  .Filter([](const Event& event) { return event.kind != 1; })
                                  .FilterMap([](const Event& event) {
                                    return event.amount < 0 ? std::nullopt : std::optional<Event>(event);
                                  })
                                  .Map([](Event event) {
                                    event.amount += 5;
                                    return event;
                                  });
                return Judged(std::move(mapped).KeyBy(&Event::key).Window(Tumbling{Millis(kSizeMs)}), parts)
                    .Aggregate(Sum{&Event::amount})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Seen> seen =
                    Only(Read(input, 0), [](const Event& event) { return event.kind != 1 && event.amount >= 0; });
                for (Seen& each : seen) each.event.amount += 5;
                std::vector<Event> late;
                const Groups groups = GroupByWindows(seen, kSizeMs, kSizeMs, KeyOf, late);
                return Expected{.rows = RowsOf(groups, SumOf), .late = LateRowsOf(late)};
              }};
}

std::string SeveralDistinctOf(const std::vector<Event>& events) {
  return CountOf(events) + ", " + DistinctOf(events) + ", " + WeightOf(events);
}

std::uint8_t KindOfEvent(const Event& event) { return static_cast<std::uint8_t>(event.kind); }
std::string TwoDistinctsOf(const std::vector<Event>& events) {
  return DistinctOf(events) + ", " + CountOf(events) + ", " + DistinctKindsOf(events);
}

/// The number of records and the greatest amount, by functions of the query.
using CountAndGreatest = std::array<std::int64_t, 2>;
constexpr auto kAddRecord = [](CountAndGreatest& folded, const Event& event) {
  ++folded[0];
  folded[1] = std::max(folded[1], event.amount);
};
constexpr auto kAddFolded = [](CountAndGreatest& folded, const CountAndGreatest& other) {
  folded[0] += other[0];
  folded[1] = std::max(folded[1], other[1]);
};
std::string CountAndGreatestOf(const std::vector<Event>& events) {
  std::int64_t greatest = 0;
  for (const Event& event : events) greatest = std::max(greatest, event.amount);
  return absl::StrCat(events.size(), "-", greatest);
}

/// A record of the greatest members and of the sum of the kinds, without a weight.
constexpr auto kGreaterRecord = [](const Event& a, const Event& b) {
  return Event{.key = std::max(a.key, b.key),
               .time_ms = std::max(a.time_ms, b.time_ms),
               .amount = std::max(a.amount, b.amount),
               .weight = 0,
               .kind = a.kind + b.kind};
};
/// What is left of a record when it is the only one, too.
Event WithoutWeight(Event event) {
  event.weight = 0;
  return event;
}
std::string ReducedOf(const std::vector<Event>& events) {
  Event reduced = events.front();
  reduced.kind = 0;
  for (const Event& event : events) {
    reduced.key = std::max(reduced.key, event.key);
    reduced.time_ms = std::max(reduced.time_ms, event.time_ms);
    reduced.amount = std::max(reduced.amount, event.amount);
    reduced.kind += event.kind;
  }
  return absl::StrFormat("(%d %d %d 0 %d)", reduced.key, reduced.time_ms, reduced.amount, reduced.kind);
}

/// A row at the end of the stream for all records, or for each key. Its stage allows no lateness, as those behind
/// others.
template <typename FoldFn>
CatalogueEntry FoldedAtTheEnd(std::string_view name, std::string_view aggregate, const KeyOracle& key, ShowEvents show,
                              const FoldFn& fold) {
  return {.name = name,
          .window = "unbounded",
          .aggregates = {aggregate},
          .join = "",
          .key = key.name,
          .rows_wait_for = RowsWaitFor::kStages,
          .has_few_rows = key.name == "none",
          .build = [fold](const QueryParts& parts) { return fold(FirstOfAll(parts)).To(StoreRows{parts.rows}); },
          .expect =
              [key, show](const Input& input) {
                return Expected{.rows = RowsOf(GroupUnbounded(Read(input, 0), 0, key.key_of), show, key.text),
                                .late = {}};
              }};
}

/// Functions that commute and associate: executors apply them to their own records, and leaders to what these make.
std::vector<CatalogueEntry> FoldsWithoutMoves() {
  const auto fold = [](auto stream) { return std::move(stream).FoldAssoc(CountAndGreatest{}, kAddRecord, kAddFolded); };
  const auto reduce = [](auto stream) { return std::move(stream).ReduceAssoc(kGreaterRecord); };
  const KeyOracle key = KeyOracleOf<std::uint64_t>();
  const KeyOracle none = KeyOracleOf<AllRecords>();
  return {Having({"FoldAssoc by key"},
                 Aggregated("tumbling fold", TumblingOf(kSizeMs), FoldAssoc(CountAndGreatest{}, kAddRecord, kAddFolded),
                            {"fold"}, CountAndGreatestOf)),
          Having({"FoldAssoc by key"},
                 FoldedAtTheEnd("amounts folded by key without moves", "fold", key, CountAndGreatestOf,
                                [=](auto stream) { return fold(std::move(stream).KeyBy(&Event::key)); })),
          Having({"FoldAssoc"},
                 FoldedAtTheEnd("amounts of all records folded without moves", "fold", none, CountAndGreatestOf, fold)),
          Having({"ReduceAssoc by key"},
                 FoldedAtTheEnd(
                     "records reduced by key without moves", "reduce", key, ReducedOf,
                     [=](auto stream) { return reduce(std::move(stream).Map(&WithoutWeight).KeyBy(&Event::key)); })),
          Having({"ReduceAssoc"},
                 FoldedAtTheEnd("all records reduced without moves", "reduce", none, ReducedOf,
                                [=](auto stream) { return reduce(std::move(stream).Map(&WithoutWeight)); }))};
}

}  // namespace

std::vector<CatalogueEntry> TumblingQueries() {
  const auto tumbled = [](std::string_view name, const auto& aggregate, ShowEvents show) {
    return Aggregated(name, TumblingOf(kSizeMs), aggregate, {name.substr(name.find(' ') + 1)}, show);
  };
  std::vector<CatalogueEntry> all = {tumbled("tumbling count", Count{}, CountOf),
                                     tumbled("tumbling sum", Sum{&Event::amount}, SumOf),
                                     tumbled("tumbling exact-sum", Sum{&Event::weight}, WeightOf),
                                     tumbled("tumbling min", Min{&Event::amount}, LeastOf),
                                     tumbled("tumbling max", Max{&Event::amount}, GreatestOf),
                                     tumbled("tumbling mean", Mean{&Event::weight}, MeanOf),
                                     tumbled("tumbling variance", Variance{&BigAmount}, BigVarianceOf),
                                     tumbled("tumbling top", TopK<3>(&Event::amount), TopThreeOf),
                                     tumbled("tumbling first", First{&Event::time_ms, &Event::amount}, FirstOf),
                                     tumbled("tumbling last", Last{&Event::time_ms, &Event::amount}, LastOf),
                                     tumbled("tumbling distinct", Distinct{&Event::amount}, DistinctOf),
                                     Aggregated("tumbling several, distinct ones among them", TumblingOf(kSizeMs),
                                                Several{Count{}, Distinct{&Event::amount}, Sum{&Event::weight}},
                                                {"count", "distinct", "exact-sum"}, SeveralDistinctOf),
                                     Aggregated("tumbling several distincts", TumblingOf(kSizeMs),
                                                Several{Distinct{&Event::amount}, Count{}, Distinct{&KindOfEvent}},
                                                {"distinct", "count"}, TwoDistinctsOf),
                                     Having({"Filter", "FilterMap", "Map"}, FilteredAndMapped())};
  std::ranges::move(FoldsWithoutMoves(), std::back_inserter(all));
  return all;
}

}  // namespace glaive::sim

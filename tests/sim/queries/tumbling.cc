#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kSizeMs = 700;

template <typename A>
CatalogueEntry Tumbled(std::string_view name, const A& aggregate, std::string (*show)(const std::vector<Event>&)) {
  return {.name = name,
          .window = "tumbling",
          .aggregate = name.substr(name.find(' ') + 1),
          .join = "",
          .build =
              [aggregate](const QueryParts& parts) {
                return Judged(FirstOfAll(parts).KeyBy(&Event::key).Window(Tumbling{Millis(kSizeMs)}), parts)
                    .Aggregate(aggregate)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [show](const Input& input) {
                std::vector<Event> late;
                const Groups groups = GroupByWindows(Read(input, 0), kSizeMs, kSizeMs, KeyOf, late);
                return Expected{.rows = RowsOf(groups, show), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry WithoutKey() {
  return {.name = "tumbling count without a key",
          .window = "tumbling",
          .aggregate = "count",
          .join = "",
          .build =
              [](const QueryParts& parts) {
                return Judged(FirstOfAll(parts).Window(Tumbling{Millis(kSizeMs)}), parts)
                    .Aggregate(Count{})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups groups = GroupByWindows(Read(input, 0), kSizeMs, kSizeMs, NoKey, late);
                return Expected{.rows = RowsOf(groups, CountOf, /*keyless=*/true), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry FilteredAndMapped() {
  return {.name = "tumbling sum of what is filtered and mapped",
          .window = "tumbling",
          .aggregate = "sum",
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

}  // namespace

std::vector<CatalogueEntry> TumblingQueries() {
  const auto several = [](const std::vector<Event>& events) -> std::string {
    return CountOf(events) + ", " + GreatestOf(events) + ", " + WeightOf(events);
  };
  const auto several_distinct = [](const std::vector<Event>& events) -> std::string {
    return CountOf(events) + ", " + DistinctOf(events) + ", " + WeightOf(events);
  };
  return {Tumbled("tumbling count", Count{}, CountOf),
          Tumbled("tumbling sum", Sum{&Event::amount}, SumOf),
          Tumbled("tumbling exact-sum", Sum{&Event::weight}, WeightOf),
          Tumbled("tumbling min", Min{&Event::amount}, LeastOf),
          Tumbled("tumbling max", Max{&Event::amount}, GreatestOf),
          Tumbled("tumbling mean", Mean{&Event::weight}, MeanOf),
          Tumbled("tumbling variance", Variance{&Event::amount}, VarianceOf),
          Tumbled("tumbling top", TopK<3>(&Event::amount), TopThreeOf),
          Tumbled("tumbling first", First{&Event::time_ms, &Event::amount}, FirstOf),
          Tumbled("tumbling last", Last{&Event::time_ms, &Event::amount}, LastOf),
          Tumbled("tumbling distinct", Distinct{&Event::amount}, DistinctOf),
          Tumbled("tumbling several", Several{Count{}, Max{&Event::amount}, Sum{&Event::weight}}, several),
          Tumbled("tumbling several, distinct ones among them",
                  Several{Count{}, Distinct{&Event::amount}, Sum{&Event::weight}}, several_distinct),
          WithoutKey(),
          FilteredAndMapped()};
}

}  // namespace glaive::sim

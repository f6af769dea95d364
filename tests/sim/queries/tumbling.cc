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

}  // namespace

std::vector<CatalogueEntry> TumblingQueries() {
  const auto tumbled = [](std::string_view name, const auto& aggregate, ShowEvents show) {
    return Aggregated(name, TumblingOf(kSizeMs), aggregate, {name.substr(name.find(' ') + 1)}, show);
  };
  return {tumbled("tumbling count", Count{}, CountOf),
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
          FilteredAndMapped()};
}

}  // namespace glaive::sim

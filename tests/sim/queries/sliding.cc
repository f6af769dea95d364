#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

template <typename A>
CatalogueEntry Slid(std::string_view name, std::int64_t size_ms, std::int64_t slide_ms, const A& aggregate,
                    std::string (*show)(const std::vector<Event>&)) {
  return {.name = name,
          .window = "sliding",
          .aggregate = name.substr(name.rfind(' ') + 1),
          .join = "",
          .build =
              [=](const QueryParts& parts) {
                return Judged(FirstOfAll(parts).KeyBy(&Event::key).Window(Sliding{Millis(size_ms), Millis(slide_ms)}),
                              parts)
                    .Aggregate(aggregate)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [=](const Input& input) {
                std::vector<Event> late;
                const Groups groups = GroupByWindows(Read(input, 0), size_ms, slide_ms, KeyOf, late);
                return Expected{.rows = RowsOf(groups, show), .late = LateRowsOf(late)};
              }};
}

/// Records that are late for some of their windows come to pieces that lie between others: the more slides, the more.
CatalogueEntry ManySlides(CatalogueEntry entry) {
  entry.share = 6;
  return entry;
}

}  // namespace

std::vector<CatalogueEntry> SlidingQueries() {
  return {Slid("sliding count", 1'000, 250, Count{}, CountOf),
          Slid("sliding last", 900, 300, Last{&Event::time_ms, &Event::amount}, LastOf),
          Slid("sliding, the slide no divisor, sum", 1'000, 300, Sum{&Event::amount}, SumOf),
          Slid("sliding, the slide no divisor, top", 700, 400, TopK<3>(&Event::amount), TopThreeOf),
          Slid("sliding distinct", 800, 200, Distinct{&Event::amount}, DistinctOf),
          ManySlides(Slid("sliding, sixteen slides, sum", 1'600, 100, Sum{&Event::amount}, SumOf))};
}

}  // namespace glaive::sim

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

/// Records that are late for some of their windows come to pieces that lie between others: the more slides, the more.
CatalogueEntry ManySlides(CatalogueEntry entry) {
  entry.share = 6;
  return entry;
}

}  // namespace

std::vector<CatalogueEntry> SlidingQueries() {
  return {Aggregated("sliding count", SlidingOf(1'000, 250), Count{}, {"count"}, CountOf),
          Aggregated("sliding last", SlidingOf(900, 300), Last{&Event::time_ms, &Event::amount}, {"last"}, LastOf),
          Aggregated("sliding, the slide no divisor, sum", SlidingOf(1'000, 300), Sum{&Event::amount}, {"sum"}, SumOf),
          Aggregated("sliding, the slide no divisor, top", SlidingOf(700, 400), TopK<3>(&Event::amount), {"top"},
                     TopThreeOf),
          Aggregated("sliding distinct", SlidingOf(800, 200), Distinct{&Event::amount}, {"distinct"}, DistinctOf),
          ManySlides(
              Aggregated("sliding, sixteen slides, sum", SlidingOf(1'600, 100), Sum{&Event::amount}, {"sum"}, SumOf))};
}

}  // namespace glaive::sim

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

std::vector<CatalogueEntry> SessionQueries() {
  return {Aggregated("session count", SessionOf(150), Count{}, {"count"}, CountOf),
          Aggregated("session exact-sum", SessionOf(400), Sum{&Event::weight}, {"exact-sum"}, WeightOf),
          Aggregated("session mean", SessionOf(40), Mean{&Event::weight}, {"mean"}, MeanOf),
          Aggregated("session first", SessionOf(1'000), First{&Event::time_ms, &Event::amount}, {"first"}, FirstOf)};
}

}  // namespace glaive::sim

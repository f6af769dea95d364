#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

std::vector<CatalogueEntry> UnboundedQueries() {
  return {Aggregated("unbounded count", UnboundedOf(0), Count{}, {"count"}, CountOf),
          Aggregated("unbounded distinct", UnboundedOf(0), Distinct{&Event::amount}, {"distinct"}, DistinctOf),
          Aggregated("as-of sum", UnboundedOf(500), Sum{&Event::amount}, {"sum"}, SumOf),
          Aggregated("as-of variance", UnboundedOf(900), Variance{&BigAmount}, {"variance"}, BigVarianceOf),
          Aggregated("as-of min", UnboundedOf(300), Min{&Event::amount}, {"min"}, LeastOf)};
}

}  // namespace glaive::sim

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

/// `every_ms` 0: at the end.
template <typename A>
CatalogueEntry AsOf(std::string_view name, std::int64_t every_ms, const A& aggregate,
                    std::string (*show)(const std::vector<Event>&)) {
  return {.name = name,
          .window = every_ms == 0 ? "unbounded" : "as-of",
          .aggregate = name.substr(name.rfind(' ') + 1),
          .join = "",
          .build =
              [=](const QueryParts& parts) {
                return Judged(FirstOfAll(parts)
                                  .KeyBy(&Event::key)
                                  .Window(Unbounded{every_ms == 0 ? absl::InfiniteDuration() : Millis(every_ms)}),
                              parts)
                    .Aggregate(aggregate)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [=](const Input& input) {
                return Expected{.rows = RowsOf(GroupUnbounded(Read(input, 0), every_ms, KeyOf), show), .late = {}};
              }};
}

}  // namespace

std::vector<CatalogueEntry> UnboundedQueries() {
  return {AsOf("unbounded count", 0, Count{}, CountOf),
          AsOf("unbounded distinct", 0, Distinct{&Event::amount}, DistinctOf),
          AsOf("as-of sum", 500, Sum{&Event::amount}, SumOf),
          AsOf("as-of variance", 900, Variance{&Event::amount}, VarianceOf),
          AsOf("as-of min", 300, Min{&Event::amount}, LeastOf)};
}

}  // namespace glaive::sim

// expect: glaive: FilterMap() comes before KeyBy(); after Aggregate() comes To(sink)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).FilterMap([](const Click& c) {
      return std::optional(c);
    });

}  // namespace glaive::engine

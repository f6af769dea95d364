// expect: glaive: a query has one Aggregate(); after it comes To(sink)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).Aggregate(Count{});

}  // namespace glaive::engine

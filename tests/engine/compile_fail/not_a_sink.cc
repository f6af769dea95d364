// expect: glaive: To() takes a sink for this query's rows
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).To(7);

}  // namespace glaive::engine

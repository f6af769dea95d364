// expect: glaive: this stream has no event times to be grouped by, as results of Unbounded{} have none; WithEventTime(
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Unbounded{}).Aggregate(Count{}).Window(Tumbling{absl::Minutes(1)});

}  // namespace glaive::engine

// expect: glaive: results of Unbounded{} have no time to be grouped by; what follows is To()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Unbounded{}).Aggregate(Count{}).Window(Tumbling{absl::Minutes(1)});

}  // namespace glaive::engine

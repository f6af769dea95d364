// expect: glaive: Aggregate() needs windows: call Window(...) first
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).Aggregate(Count{});

}  // namespace glaive::engine

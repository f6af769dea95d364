// expect: glaive: LateTo() takes a sink for LateRecord
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).LateTo(7).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: Broadcast() comes before KeyBy(); after Window() comes Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Broadcast().Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

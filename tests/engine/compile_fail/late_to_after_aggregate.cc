// expect: glaive: LateTo() comes after Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).LateTo(Discard{}).To(Discard{});

}  // namespace glaive::engine

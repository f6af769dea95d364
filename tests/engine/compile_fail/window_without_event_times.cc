// expect: glaive: this stream has no event times to be grouped by, as results of Unbounded{} have none
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().WithoutEventTime().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: a stream of this join has no event times for this window, as results of Unbounded{} have none;
// WithEventTime(
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Join(Clicks(), Clicks().WithoutEventTime()).On(&Click::page, &Click::page).Window(Tumbling{absl::Seconds(1)});

}  // namespace glaive::engine

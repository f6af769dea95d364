// expect: glaive: AllowedLateness() is for windows of event time
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().KeyBy(&Click::page).Window(CountWindow{.size = 10}).AllowedLateness(absl::Seconds(1)).Aggregate(Count{});

}  // namespace glaive::engine

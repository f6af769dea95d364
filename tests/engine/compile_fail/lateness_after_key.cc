// expect: glaive: AllowedLateness() comes after Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).AllowedLateness(absl::Seconds(1)).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

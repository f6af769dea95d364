// expect: glaive: AllowedLateness() is for windows; Within() goes by the watermarks of its streams
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().Within(absl::Seconds(-1), absl::Seconds(1)).AllowedLateness(absl::Seconds(1)).To(Discard{});

}  // namespace glaive::engine

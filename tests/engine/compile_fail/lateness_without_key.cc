// expect: glaive: AllowedLateness() comes after Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().AllowedLateness(absl::Seconds(1)).KeyBy(&Click::page).To(Discard{});

}  // namespace glaive::engine

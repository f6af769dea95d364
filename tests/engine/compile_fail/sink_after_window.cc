// expect: glaive: To() needs results: call Aggregate(...) after Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).To(Discard{});

}  // namespace glaive::engine

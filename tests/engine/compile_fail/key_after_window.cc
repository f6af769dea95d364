// expect: glaive: KeyBy() comes once, before Window(); after Window() comes Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).KeyBy(&Click::page);

}  // namespace glaive::engine

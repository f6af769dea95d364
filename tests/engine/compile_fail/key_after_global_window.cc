// expect: glaive: KeyBy() comes once, before Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Window(Tumbling{absl::Seconds(1)}).KeyBy(&Click::page).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

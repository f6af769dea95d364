// expect: glaive: JoinTable() comes before KeyBy(); after Window() comes Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).JoinTable(1).To(Discard{});

}  // namespace glaive::engine

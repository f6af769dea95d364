// expect: glaive: a join takes two streams of records; behind KeyBy() and Window() comes Aggregate(...) first, and
// behind
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = SemiJoin(Clicks(), Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}));

}  // namespace glaive::engine

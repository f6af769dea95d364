// expect: glaive: Shuffle() comes before KeyBy(); after KeyBy() comes Window(...) or Aggregate(...), or DropKey() or
// Unkey(), which makes it a stream without a key again
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Shuffle().Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

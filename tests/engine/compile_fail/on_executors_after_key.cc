// expect: glaive: OnExecutors() comes before KeyBy(); after it comes Window(...), Aggregate(...), DropKey() or Unkey()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).OnExecutors(1).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

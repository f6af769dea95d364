// expect: glaive: Cache() comes before KeyBy(); after it comes Window(...), Aggregate(...), DropKey() or Unkey()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Cache().Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

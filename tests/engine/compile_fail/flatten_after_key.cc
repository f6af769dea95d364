// expect: glaive: Flatten() comes before KeyBy(); after it comes Window(...), Aggregate(...), DropKey() or Unkey()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Flatten();

}  // namespace glaive::engine

// expect: glaive: Flatten() comes before KeyBy(); after KeyBy() comes Window(...) or Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Flatten();

}  // namespace glaive::engine

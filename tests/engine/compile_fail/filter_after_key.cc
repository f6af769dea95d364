// expect: glaive: Filter() comes before KeyBy(); after KeyBy() comes Window(...) or Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Filter([](const Click&) { return true; });

}  // namespace glaive::engine

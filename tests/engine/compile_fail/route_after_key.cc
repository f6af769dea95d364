// expect: glaive: Route() comes before KeyBy(); after KeyBy() comes Window(...) or Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Route([](const Click&) { return true; });

}  // namespace glaive::engine

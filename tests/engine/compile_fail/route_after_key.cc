// expect: glaive: Route() comes before KeyBy(); after it comes Window(...), Aggregate(...), DropKey() or Unkey()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Route([](const Click&) { return true; });

}  // namespace glaive::engine

// expect: glaive: FlatMap() comes before KeyBy(); after it comes Window(...), Aggregate(...), DropKey() or Unkey()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).FlatMap([](const Click& c) { return std::array{c, c}; });

}  // namespace glaive::engine

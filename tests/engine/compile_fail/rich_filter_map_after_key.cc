// expect: glaive: RichFilterMap() comes before KeyBy(); after KeyBy() comes Window(...) or Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).RichFilterMap(0, [](int& count, const Click&) { return ++count; });

}  // namespace glaive::engine

// expect: glaive: RichMap() comes before KeyBy(); after KeyBy() comes Window(...) or Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).RichMap(0, [](int& count, const Click&) { return ++count; });

}  // namespace glaive::engine

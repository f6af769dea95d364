// expect: glaive: JoinTable() comes before KeyBy(); after it comes Window(...), Aggregate(...), DropKey() or Unkey()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).JoinTable(1).To(Discard{});

}  // namespace glaive::engine

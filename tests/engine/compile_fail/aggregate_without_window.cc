// expect: glaive: Aggregate() needs windows: call Window(...) after KeyBy()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

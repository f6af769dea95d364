// expect: glaive: Aggregate() needs windows: call Window(...) first, and KeyBy(...) before it
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: To() needs results: call KeyBy(...), Window(...) and Aggregate(...) first
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().To(Discard{});

}  // namespace glaive::engine

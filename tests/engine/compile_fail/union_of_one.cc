// expect: glaive: Union() takes two streams or more, such as Union(a, b)
#include "engine/api/union.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Union(Clicks());

}  // namespace glaive::engine

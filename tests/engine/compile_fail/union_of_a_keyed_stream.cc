// expect: glaive: Union() takes streams of records; behind KeyBy() and Window() comes Aggregate(...) first
#include "engine/api/union.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Union(Clicks(), Clicks().KeyBy(&Click::page));

}  // namespace glaive::engine

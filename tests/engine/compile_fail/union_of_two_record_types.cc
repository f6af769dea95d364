// expect: glaive: the streams of Union() have the same type of record; Map() them to one first
#include "engine/api/union.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Union(Clicks(), Clicks().Map([](const Click& click) { return click.page; }));

}  // namespace glaive::engine

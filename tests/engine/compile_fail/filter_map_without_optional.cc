// expect: FilterMap
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().FilterMap([](const Click& click) { return click.page; });

}  // namespace glaive::engine

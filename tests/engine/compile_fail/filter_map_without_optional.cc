// expect: glaive: FilterMap() takes a function that returns a std::optional; Map() takes one that always
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().FilterMap([](const Click& click) { return click.page; });

}  // namespace glaive::engine

// expect: glaive: FlatMap() takes a function that returns a range, such as a std::vector; Map() takes one that
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().FlatMap([](const Click& click) { return click.page; }).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: RichFilterMap() takes a function that returns a std::optional
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().RichFilterMap(0, [](int& count, const Click&) { return ++count; }).To(Discard{});

}  // namespace glaive::engine

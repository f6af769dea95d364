// expect: glaive: RichFlatMap() takes a function that returns a range, such as a std::vector
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().RichFlatMap(0, [](int& count, const Click&) { return ++count; }).To(Discard{});

}  // namespace glaive::engine

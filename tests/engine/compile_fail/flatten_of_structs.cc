// expect: glaive: Flatten() is for records that are ranges, such as a std::array; FlatMap(function) makes a range
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Flatten().To(Discard{});

}  // namespace glaive::engine

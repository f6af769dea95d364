// expect: glaive: Unique() compares whole records: without padding, pointers or floating-point numbers
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Unique().To(Discard{});

}  // namespace glaive::engine

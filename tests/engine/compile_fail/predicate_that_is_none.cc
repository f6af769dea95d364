// expect: Filter
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Filter(7);

}  // namespace glaive::engine

// expect: glaive: a join needs windows: call Window(...) or Within(...) after On()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().To(Discard{});

}  // namespace glaive::engine

// expect: glaive: To() comes after Window(...) or Within(...) of a join, which say which records meet
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().To(Discard{});

}  // namespace glaive::engine

// expect: glaive: Together() takes queries, such as Together(a.To(...), b.To(...))
#include "engine/api/together.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Together();

}  // namespace glaive::engine

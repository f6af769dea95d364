// expect: glaive: To() takes a sink for this query's rows
#include "engine/sink/for_each.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct View {};
auto query = Clicks().To(ForEach([](const View&) {}));

}  // namespace glaive::engine

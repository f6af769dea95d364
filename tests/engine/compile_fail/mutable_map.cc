// expect: glaive: a function of a query is const, since all executors of a process share it: no mutable lambda;
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Map([count = 0](const Click&) mutable { return ++count; }).To(Discard{});

}  // namespace glaive::engine

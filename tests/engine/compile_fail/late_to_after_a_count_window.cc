// expect: glaive: LateTo() is for windows of event time
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Window(CountWindow{.size = 10}).LateTo(Discard{}).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

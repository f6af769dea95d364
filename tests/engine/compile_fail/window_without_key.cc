// expect: glaive: Window() needs a key: call KeyBy(...) first
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: a join has no Aggregate(); group its results by KeyBy(...) first
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{});

}  // namespace glaive::engine

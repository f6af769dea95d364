// expect: glaive: Ship() takes BothByKey{} or RightToAll{}; leave it out for a late merge
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().Ship(1).Window(Tumbling{absl::Seconds(1)}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: Local() takes HashJoin{} or SortMerge{}
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().Local(1).Window(Tumbling{absl::Seconds(1)}).To(Discard{});

}  // namespace glaive::engine

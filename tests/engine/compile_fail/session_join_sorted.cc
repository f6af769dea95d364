// expect: glaive: Local(SortMerge{}) is for Tumbling{size}, Sliding{size, slide} and Unbounded{}
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().Local(SortMerge{}).Window(Session{absl::Seconds(1)}).To(Discard{});

}  // namespace glaive::engine

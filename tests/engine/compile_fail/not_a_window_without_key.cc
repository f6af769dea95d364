// expect: glaive: Window() takes Tumbling{size}, Sliding{size, slide}
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Window(absl::Seconds(1)).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

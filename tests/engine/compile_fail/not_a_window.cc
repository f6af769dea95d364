// expect: glaive: Window() takes Tumbling{size} or Sliding{size, slide}
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(absl::Seconds(1)).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: Window() takes Tumbling{size}, Sliding{size, slide}, Session{gap} or Unbounded{every}
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(absl::Seconds(1)).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

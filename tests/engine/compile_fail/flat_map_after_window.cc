// expect: glaive: FlatMap() comes before KeyBy(); after Window() comes Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).FlatMap([](const Click& c) {
  return std::array{c, c};
});

}  // namespace glaive::engine

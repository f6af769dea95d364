// expect: glaive: FilterMap() comes before KeyBy(); after Window() comes Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).FilterMap([](const Click& c) {
  return std::optional(c);
});

}  // namespace glaive::engine

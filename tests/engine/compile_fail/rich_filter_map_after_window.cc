// expect: glaive: RichFilterMap() comes before Window(); after Window() comes Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).RichFilterMap(0, [](int& count, const Click&) {
      return std::optional(++count);
    });

}  // namespace glaive::engine

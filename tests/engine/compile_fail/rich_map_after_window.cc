// expect: glaive: RichMap() comes before Window(); after Window() comes Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).RichMap(0, [](int& count, const Click&) {
  return ++count;
});

}  // namespace glaive::engine

// expect: glaive: Map() comes before KeyBy(); after Aggregate() comes To(sink)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).Map([](const Click& c) {
  return c;
});

}  // namespace glaive::engine

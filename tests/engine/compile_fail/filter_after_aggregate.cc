// expect: glaive: Filter() comes before KeyBy(); after Aggregate() comes To(sink)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).Filter([](const Click&) {
      return true;
    });

}  // namespace glaive::engine

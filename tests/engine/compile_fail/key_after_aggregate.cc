// expect: glaive: KeyBy() comes before Window(); after Aggregate() comes To(sink)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).KeyBy(&Click::page);

}  // namespace glaive::engine

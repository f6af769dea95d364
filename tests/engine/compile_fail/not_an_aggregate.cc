// expect: glaive: Aggregate() takes an aggregate of the stream's records, such as Count{}
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(7).To(Discard{});

}  // namespace glaive::engine

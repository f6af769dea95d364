// expect: glaive: Last{} takes what records are ordered by, and a field: Last{order, field}
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Window(Tumbling{absl::Seconds(1)}).Aggregate(Last{&Click::price}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: this stream has no event times to be grouped by
#include "engine/api/generated.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = FromRange(0, 10).Window(Tumbling{absl::Minutes(1)}).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: KeyBy() needs a key without padding, pointers or floating-point numbers, and with an
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::price).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

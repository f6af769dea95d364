// expect: glaive: Min{} and Max{} read numbers or texts; of a struct, TopK<1>() tells the greatest
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().Window(Tumbling{absl::Seconds(1)}).Aggregate(Max{[](const Click& click) { return click; }}).To(Discard{});

}  // namespace glaive::engine

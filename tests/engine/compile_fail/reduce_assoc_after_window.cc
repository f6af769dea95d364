// expect: glaive: ReduceAssoc() comes before Window(); after Window() comes Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .ReduceAssoc([](const Click& a, const Click& b) { return a.price > b.price ? a : b; })
                 .To(Discard{});

}  // namespace glaive::engine

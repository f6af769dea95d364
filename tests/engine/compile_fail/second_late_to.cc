// expect: glaive: a query has one LateTo()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .LateTo(Discard{})
                 .AllowedLateness(absl::Seconds(1))
                 .LateTo(Discard{})
                 .Aggregate(Count{})
                 .To(Discard{});

}  // namespace glaive::engine

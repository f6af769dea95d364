// expect: glaive: WithEventTime() comes before KeyBy(); after it comes Window(...), Aggregate(...), DropKey()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .WithEventTime(&Click::time_ms)
                 .Window(Tumbling{absl::Seconds(1)})
                 .Aggregate(Count{})
                 .To(Discard{});

}  // namespace glaive::engine

// expect: nothing
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages()
                 .Window(Tumbling{absl::Seconds(1)})
                 .AllowedLateness(absl::Seconds(1))
                 .Keep(&Click::time_ms, &Click::price)
                 .KeyBy([](const auto& row) { return row.key; })
                 .Window(Tumbling{absl::Minutes(1)})
                 .Aggregate(Count{})
                 .To(Discard{});

}  // namespace glaive::engine

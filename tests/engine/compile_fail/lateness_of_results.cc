// expect: glaive: AllowedLateness() is for records of a source; results of a stage are never out of order
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .Aggregate(Count{})
                 .Window(Tumbling{absl::Minutes(1)})
                 .AllowedLateness(absl::Seconds(1));

}  // namespace glaive::engine

// expect: glaive: AllowedLateness() comes after Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .Aggregate(Count{})
                 .AllowedLateness(absl::Seconds(1))
                 .To(Discard{});

}  // namespace glaive::engine

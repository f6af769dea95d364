// expect: glaive: Window() comes before Aggregate(); after it comes To(sink)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .Aggregate(Count{})
                 .Window(Tumbling{absl::Seconds(1)});

}  // namespace glaive::engine

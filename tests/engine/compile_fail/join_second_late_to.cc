// expect: glaive: a join has one LateTo()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages()
                 .Window(Tumbling{absl::Seconds(1)})
                 .LateTo(Discard{}, Discard{})
                 .LateTo(Discard{}, Discard{})
                 .To(Discard{});

}  // namespace glaive::engine

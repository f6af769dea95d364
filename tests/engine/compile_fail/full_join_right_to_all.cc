// expect: glaive: FullJoin() has no Ship(RightToAll{}), since no executor could tell that a right record
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = FullJoin(Clicks(), Clicks())
                 .On(&Click::page, &Click::page)
                 .Ship(RightToAll{})
                 .Window(Tumbling{absl::Seconds(1)})
                 .To(Discard{});

}  // namespace glaive::engine

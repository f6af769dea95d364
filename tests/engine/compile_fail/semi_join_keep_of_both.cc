// expect: glaive: results of SemiJoin() and AntiJoin() are of the left stream alone: Keep(part_of_left)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = SemiJoin(Clicks(), Clicks())
                 .On(&Click::page, &Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .Keep(&Click::time_ms, &Click::price)
                 .To(Discard{});

}  // namespace glaive::engine

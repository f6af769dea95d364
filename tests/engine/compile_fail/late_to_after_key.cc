// expect: glaive: LateTo() comes after Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).LateTo(Discard{}).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: LateTo() comes after Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().LateTo(Discard{}).KeyBy(&Click::page).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: Process() comes after Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Process([](auto, auto, auto) { return 1; });

}  // namespace glaive::engine

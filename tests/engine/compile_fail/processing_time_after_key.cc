// expect: glaive: WithProcessingTime() comes before KeyBy()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).WithProcessingTime();

}  // namespace glaive::engine

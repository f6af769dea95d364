// expect: glaive: To() needs results: call Window(...) and Aggregate(...) after KeyBy()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: To() needs results: call Aggregate(...) after KeyBy(), maybe behind Window(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).To(Discard{});

}  // namespace glaive::engine

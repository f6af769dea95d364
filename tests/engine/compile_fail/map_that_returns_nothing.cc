// expect: glaive: this step takes a function that returns a value; Inspect() calls one for its effect
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Map([](const Click&) {}).To(Discard{});

}  // namespace glaive::engine

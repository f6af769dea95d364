// expect: glaive: WithEventTime() takes a function, or a member, that returns milliseconds since 1970 as a
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().WithEventTime([](const Click& click) { return click; }).To(Discard{});

}  // namespace glaive::engine

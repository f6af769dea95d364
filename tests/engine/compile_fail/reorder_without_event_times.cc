// expect: glaive: Reorder() needs event times: call WithEventTime(time) first
#include "engine/api/generated.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = FromRange(0, 10).Reorder().To(Discard{});

}  // namespace glaive::engine

// expect: glaive: Aggregate() needs a key and windows
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: a step uses its stream up, and this stream has a name
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

const auto clicks = Clicks();
auto query = clicks.Limit(3).To(Discard{});

}  // namespace glaive::engine

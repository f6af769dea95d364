// expect: glaive: a step uses its join up, and this join has a name: go on with std::move(join)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto join = OnPages().Within(absl::Seconds(-1), absl::Seconds(1));
auto query = join.Keep(&Click::time_ms, &Click::price).To(Discard{});

}  // namespace glaive::engine

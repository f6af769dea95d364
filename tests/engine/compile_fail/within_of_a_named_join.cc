// expect: glaive: a step uses its join up, and this join has a name: go on with std::move(join)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

const auto join = TwoStreams();
auto query = join.Within(absl::Seconds(-1), absl::Seconds(1)).To(Discard{});

}  // namespace glaive::engine

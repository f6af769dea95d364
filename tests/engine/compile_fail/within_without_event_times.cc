// expect: glaive: Within() compares event times, which a stream of this join does not have; give it some by
#include "engine/api/generated.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Join(FromRange(0, 10), FromRange(0, 10)).Within(absl::Seconds(-1), absl::Seconds(1)).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: Within() moves records by their keys and has no other way to find pairs: leave out Ship()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().Ship(BothByKey{}).Within(absl::Seconds(-1), absl::Seconds(1)).To(Discard{});

}  // namespace glaive::engine

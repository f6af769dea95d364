// expect: glaive: Split() takes a predicate for each stream that it makes
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto none = Clicks().Split();

}  // namespace glaive::engine

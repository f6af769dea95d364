// expect: glaive: a join takes two streams of records; behind KeyBy() and Window() comes Aggregate(...) first, and
// behind
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Join(Clicks().KeyBy(&Click::page), Clicks()).On(&Click::page, &Click::page);

}  // namespace glaive::engine

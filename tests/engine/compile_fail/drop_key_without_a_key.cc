// expect: glaive: DropKey() comes after KeyBy(), which it takes back
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().DropKey().To(Discard{});

}  // namespace glaive::engine

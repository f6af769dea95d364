// expect: glaive: Partition() comes after KeyBy(), which says by what
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Partition().To(Discard{});

}  // namespace glaive::engine

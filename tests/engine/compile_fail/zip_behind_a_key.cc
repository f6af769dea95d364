// expect: glaive: Zip() takes two streams of records; behind KeyBy() and Window() comes Aggregate(...) first
#include "engine/api/zip.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Zip(Clicks(), Clicks().KeyBy(&Click::page)).To(Discard{});

}  // namespace glaive::engine

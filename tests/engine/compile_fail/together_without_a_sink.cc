// expect: glaive: a query ends in a sink: in Together(), too, call To(...) of each stream
#include "engine/api/together.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Together(Clicks().To(Discard{}), Clicks());

}  // namespace glaive::engine

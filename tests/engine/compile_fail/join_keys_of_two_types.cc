// expect: glaive: On() takes keys of the same type: Map() the records of one stream before, or convert its key in a
// lambda
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = TwoStreams().On(&Click::page, &Click::time_ms);

}  // namespace glaive::engine

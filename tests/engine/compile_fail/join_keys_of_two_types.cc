// expect: glaive: On() takes keys of the same type
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = TwoStreams().On(&Click::page, &Click::time_ms);

}  // namespace glaive::engine

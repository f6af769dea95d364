// expect: glaive: a join needs keys: call On(...) before Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = TwoStreams().Window(Tumbling{absl::Seconds(1)});

}  // namespace glaive::engine

// expect: glaive: Ship() comes before Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().Window(Tumbling{absl::Seconds(1)}).Ship(BothByKey{}).To(Discard{});

}  // namespace glaive::engine

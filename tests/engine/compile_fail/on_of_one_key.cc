// expect: glaive: this step takes other arguments
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = TwoStreams().On(&Click::page).Window(Tumbling{absl::Seconds(1)}).To(Discard{});

}  // namespace glaive::engine

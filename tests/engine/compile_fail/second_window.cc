// expect: glaive: a stream has one Window()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Window(Tumbling{absl::Seconds(1)});

}  // namespace glaive::engine

// expect: glaive: a stream has one KeyBy()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)});

}  // namespace glaive::engine

// expect: glaive: a step uses its stream up, and this stream has a name: go on with std::move(stream), or with
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto windows = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)});
auto query = windows.AllowedLateness(absl::Seconds(1)).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

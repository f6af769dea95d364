// expect: glaive: Process() takes a function of the key, the window and a std::span<const Record>
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Process([](std::uint64_t, const Click&) {
  return 1;
});

}  // namespace glaive::engine

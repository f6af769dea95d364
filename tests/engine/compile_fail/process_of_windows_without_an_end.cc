// expect: glaive: Process() takes windows that end
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().KeyBy(&Click::page).Window(Unbounded{}).Process([](std::uint64_t, TimeWindow, std::span<const Click>) {
      return 1;
    });

}  // namespace glaive::engine

// expect: glaive: this step takes a function, or a member, of the stream's records: const Record&; this one is
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Other {
  std::uint64_t page;
};
auto query = Join(Clicks().Filter(&Other::page), Clicks()).On(&Click::page, &Click::page).Window(Unbounded{});

}  // namespace glaive::engine

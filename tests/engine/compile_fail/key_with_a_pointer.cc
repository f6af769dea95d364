// expect: glaive: KeyBy() needs a key without padding, pointers or floating-point numbers
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Visitor {
  std::uint64_t page;
  const char* name;

  friend bool operator==(const Visitor&, const Visitor&) = default;
};

auto query = Clicks().KeyBy([](const Click&) { return Visitor{}; }).Window(Tumbling{absl::Seconds(1)});

}  // namespace glaive::engine

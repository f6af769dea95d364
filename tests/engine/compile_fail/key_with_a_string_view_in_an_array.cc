// expect: glaive: KeyBy() needs a key without padding, pointers or floating-point numbers
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Words {
  std::array<std::string_view, 2> words;

  friend bool operator==(const Words&, const Words&) = default;
};

auto query = Clicks().KeyBy([](const Click&) { return Words{}; }).Window(Tumbling{absl::Seconds(1)});

}  // namespace glaive::engine

// expect: glaive: Keep() takes plain data or texts of each record
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Named {
  const char* name;
};

auto query = OnPages().Window(Tumbling{absl::Seconds(1)}).Keep([](const Click&) { return Named{}; }, &Click::price);

}  // namespace glaive::engine

// expect: glaive: Window() takes Tumbling{size}, Sliding{size, slide}, Session{gap} or Unbounded{}
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().Window(7);

}  // namespace glaive::engine

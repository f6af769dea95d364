// expect: glaive: KeyBy() needs a key without padding, pointers or floating-point numbers
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy([](const Click&) { return std::string_view(); }).Window(Tumbling{absl::Seconds(1)});

}  // namespace glaive::engine

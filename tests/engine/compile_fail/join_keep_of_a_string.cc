// expect: glaive: Keep() takes plain data or texts of each record: no string, no pointers, no std::tuple
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    OnPages().Window(Tumbling{absl::Seconds(1)}).Keep([](const Click&) { return std::string(); }, &Click::price);

}  // namespace glaive::engine

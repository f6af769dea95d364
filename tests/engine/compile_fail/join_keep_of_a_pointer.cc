// expect: glaive: Keep() takes plain data or texts of each record
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    OnPages().Window(Tumbling{absl::Seconds(1)}).Keep([](const Click& click) { return &click; }, &Click::price);

}  // namespace glaive::engine

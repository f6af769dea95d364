// expect: glaive: MapWithTime() comes before KeyBy()
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

std::int64_t TimeOf(const Click&, std::int64_t time_ms) { return time_ms; }

auto query = Clicks().KeyBy(&Click::page).MapWithTime(&TimeOf);

}  // namespace glaive::engine

// expect: glaive: MapWithTime() needs a stream with event times: say them before, by WithEventTime(...) or
// WithProcessingTime()
#include "engine/api/generated.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = FromRange(0, 10).MapWithTime([](std::uint64_t, std::int64_t time_ms) { return time_ms; });

}  // namespace glaive::engine

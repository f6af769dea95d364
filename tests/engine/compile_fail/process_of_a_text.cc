// expect: glaive: Process() of a window of event time reads no Text
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .Map([](const Click&) { return Text("page"); })
                 .Window(Tumbling{absl::Seconds(1)})
                 .Process([](TimeWindow, std::span<const Text>) { return 1; });

}  // namespace glaive::engine

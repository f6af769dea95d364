// expect: glaive: a join of pairs keeps a part of both streams' records: Keep(part_of_left, part_of_right)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().Window(Tumbling{absl::Seconds(1)}).Keep(&Click::time_ms).To(Discard{});

}  // namespace glaive::engine

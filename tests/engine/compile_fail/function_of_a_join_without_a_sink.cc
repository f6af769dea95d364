// expect: glaive: a query ends in a sink: call To(...), such as To(Csv{path}) or To(results)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

absl::StatusOr<std::unique_ptr<Query>> Build() { return OnPages().Window(Tumbling{absl::Seconds(1)}); }

}  // namespace glaive::engine

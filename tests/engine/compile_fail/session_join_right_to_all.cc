// expect: glaive: a Session{gap} spans records of several executors, which Ship(RightToAll{}) leaves where
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages().Ship(RightToAll{}).Window(Session{absl::Seconds(1)}).To(Discard{});

}  // namespace glaive::engine

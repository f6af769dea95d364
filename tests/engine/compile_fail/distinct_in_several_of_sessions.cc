// expect: glaive: Distinct{} is not for Session{gap}
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Session{absl::Seconds(1)})
                 .Aggregate(Several{Count{}, Distinct{&Click::time_ms}})
                 .To(Discard{});

}  // namespace glaive::engine

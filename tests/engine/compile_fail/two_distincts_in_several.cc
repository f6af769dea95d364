// expect: glaive: Several{} holds one Distinct{} at most
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .Aggregate(Several{Distinct{&Click::page}, Count{}, Distinct{&Click::time_ms}})
                 .To(Discard{});

}  // namespace glaive::engine

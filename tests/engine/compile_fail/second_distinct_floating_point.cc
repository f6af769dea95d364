// expect: glaive: Aggregate() takes an aggregate of the stream's records
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .Aggregate(Several{Distinct{&Click::page}, Count{}, Distinct{&Click::price}})
                 .To(Discard{});

}  // namespace glaive::engine

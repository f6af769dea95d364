// expect: nothing
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .Filter([](const Click& click) { return click.price > 1; })
                 .Window(Sliding{absl::Seconds(2), absl::Seconds(1)})
                 .Aggregate(Sum{&Click::price})
                 .To(Discard{});

}  // namespace glaive::engine

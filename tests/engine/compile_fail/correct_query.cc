// expect: nothing
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .Filter([](const Click& click) { return click.price > 1; })
                 .Map([](const Click& click) { return click; })
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .LateTo(Discard{})
                 .AllowedLateness(absl::Seconds(1))
                 .Aggregate(Count{})
                 .To(Discard{});

}  // namespace glaive::engine

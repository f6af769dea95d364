// expect: glaive: FoldAssoc() comes before Window(); after Window() comes Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .FoldAssoc(
                     0, [](int& count, const Click&) { ++count; }, [](int& count, int other) { count += other; })
                 .To(Discard{});

}  // namespace glaive::engine

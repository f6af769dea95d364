// expect: glaive: Csv needs GLAIVE_RECORD of each type T it writes, or an AppendCsv(std::string&, const T&) beside it
#include "engine/sink/csv.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .LateTo(Csv{"late.csv"})
                 .Aggregate(Count{})
                 .To(Discard{});

}  // namespace glaive::engine

// expect: glaive: Csv needs GLAIVE_RECORD of each type T it writes, or an AppendCsv(std::string&, const T&) beside it
#include "engine/sink/csv.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().To(Csv{"clicks.csv"});

}  // namespace glaive::engine

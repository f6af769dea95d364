// expect: glaive: Csv needs GLAIVE_RECORD of each type T it writes, or an AppendCsv(std::string&, const T&) beside it
#include "engine/sink/results.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

std::unique_ptr<Query> Build(const Results& results) { return Clicks().To(results); }

}  // namespace glaive::engine

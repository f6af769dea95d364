// expect: glaive: To() takes a sink for this query's rows
#include "engine/sink/collect.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

std::vector<std::vector<std::uint64_t>> rows(1);
auto query = Clicks().To(CollectAll(rows));

}  // namespace glaive::engine

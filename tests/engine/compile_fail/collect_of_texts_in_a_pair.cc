// expect: glaive: a struct with a Text is described by GLAIVE_RECORD(Struct, member, member, ...) beside it; texts may
// be in structs, std::array and std::optional
#include "engine/sink/collect.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

std::vector<std::vector<std::pair<Text, int>>> rows;
auto query = Clicks().Map([](const Click&) { return std::pair(Text("page"), 1); }).To(Collect(rows));

}  // namespace glaive::engine

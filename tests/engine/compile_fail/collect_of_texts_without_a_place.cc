// expect: glaive: rows with texts are collected with them: Collect(rows, texts)
#include "engine/sink/collect.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

std::vector<std::vector<Text>> rows;
auto query = Clicks().Map([](const Click&) { return Text("page"); }).To(Collect(rows));

}  // namespace glaive::engine

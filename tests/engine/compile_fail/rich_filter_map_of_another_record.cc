// expect: glaive: RichMap(), RichFilterMap() and RichFlatMap() take a function of a state, State&, and a record
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct View {};
auto query = Clicks().RichFilterMap(0, [](int&, const View& view) { return std::optional(view); }).To(Discard{});

}  // namespace glaive::engine

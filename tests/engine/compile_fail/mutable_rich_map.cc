// expect: glaive: RichMap(), RichFilterMap() and RichFlatMap() take a function of a state, State&, and a record,
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().RichMap(0, [n = 0](int& state, const Click&) mutable { return state + ++n; }).To(Discard{});

}  // namespace glaive::engine

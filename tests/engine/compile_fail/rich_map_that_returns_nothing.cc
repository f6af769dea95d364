// expect: glaive: RichMap() takes a function that returns a value; RichFilterMap() may return none
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().RichMap(0, [](int& state, const Click&) { ++state; }).To(Discard{});

}  // namespace glaive::engine

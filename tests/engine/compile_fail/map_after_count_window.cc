// expect: glaive: Map() comes before KeyBy(); after Window() comes Aggregate(...) or Process(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Window(CountWindow{.size = 10}).Map([](const Click& click) { return click.page; }).To(Discard{});

}  // namespace glaive::engine

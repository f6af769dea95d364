// expect: glaive: a step uses its stream up, and this stream has a name: go on with std::move(stream), or with
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto clicks = Clicks();
auto query = clicks.Map([](const Click& click) { return click.page; }).To(Discard{});

}  // namespace glaive::engine

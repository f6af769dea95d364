// expect: glaive: Together() takes what To() returns, std::unique_ptr<GraphQuery>
#include "engine/api/together.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

std::unique_ptr<Query> clicks = Clicks().To(Discard{});
auto query = Together(clicks, Clicks().To(Discard{}));

}  // namespace glaive::engine

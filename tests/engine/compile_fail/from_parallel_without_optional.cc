// expect: glaive: FromParallel() takes a function that makes a function for each executor, which returns a
// std::optional
#include "engine/api/generated.h"

namespace glaive::engine {

auto query = FromParallel([](const SourceContext&) { return [] { return 7; }; });

}  // namespace glaive::engine

// expect: glaive: the records behind this step are plain data: no std::string, no containers, no other owner of memory;
// nor a std::pair or std::tuple: write a struct
#include <string>
#include <vector>

#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().FlatMap([](const Click&) { return std::vector<std::string>{"a"}; }).To(Discard{});

}  // namespace glaive::engine

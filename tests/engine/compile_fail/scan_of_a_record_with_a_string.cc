// expect: glaive: records that move to other executors may reach another process: no pointers, no views, no owners of
// memory
#include <string_view>

#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .Map([](const Click&) { return std::string_view("a"); })
                 .Scan(0, [](int& count, const std::string_view&) { ++count; })
                 .To(Discard{});

}  // namespace glaive::engine

// expect: glaive: the state of a key is plain data: no std::string, no containers, no other owner of memory; nor a
// std::pair or std::tuple: write a struct
#include <string>

#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .RichMap(std::string(), [](std::string& pages, const Click&) { return pages.size(); })
                 .To(Discard{});

}  // namespace glaive::engine

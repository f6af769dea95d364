// expect: glaive: this step takes other arguments
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().RichMap([](std::uint64_t& n, const Click&) { return ++n; }).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: this step takes a function, or a member, of the stream's records: const Record&; this one is
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Map([](int number) { return number; }).To(Discard{});

}  // namespace glaive::engine

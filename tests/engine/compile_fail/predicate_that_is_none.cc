// expect: glaive: this step takes a function, or a member, of the stream's records: const Record&; this one is
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Filter(7);

}  // namespace glaive::engine

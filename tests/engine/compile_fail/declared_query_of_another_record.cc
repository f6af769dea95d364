// expect: glaive: this step takes a function, or a member, of the stream's records: const Record&; this one is of
// another type
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Visit {
  std::uint64_t page;
};

std::unique_ptr<Query> query = Clicks().Map(&Visit::page).To(Discard{});

}  // namespace glaive::engine

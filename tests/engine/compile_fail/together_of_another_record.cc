// expect: glaive: this step takes a function, or a member, of the stream's records: const Record&; this one is
#include "engine/api/together.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Other {
  std::uint64_t page;
};
auto query = Together(Clicks().Map(&Other::page).To(Discard{}), Clicks().To(Discard{}));

}  // namespace glaive::engine

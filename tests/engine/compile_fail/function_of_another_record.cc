// expect: glaive: this step takes a function, or a member, of the stream's records: const Record&; this one is
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Other {
  std::uint64_t page;
};
absl::StatusOr<std::unique_ptr<Query>> Build() { return Clicks().Map(&Other::page).To(Discard{}); }

}  // namespace glaive::engine

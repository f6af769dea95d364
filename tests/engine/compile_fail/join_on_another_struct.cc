// expect: glaive: this step takes a function, or a member, of the stream's records: const Record&; this one is of
// another type: Map() the records to that type before, or read a member of theirs
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Other {
  std::uint64_t page;
};
auto query = TwoStreams().On(&Click::page, &Other::page).Window(Tumbling{absl::Seconds(1)}).To(Discard{});

}  // namespace glaive::engine

// expect: glaive: this step takes a function, or a member, of the stream's records: const Record&; this one is of
// another type: Map() the records to that type before, or read a member of theirs
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Other {
  int number;
};
auto query = Clicks().KeyBy(&Other::number).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

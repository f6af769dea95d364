// expect: glaive: an aggregate reads a member, or calls a function, of the stream's records: const Record&; this
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Other {
  int number;
};
auto query = Clicks().Window(Tumbling{absl::Seconds(1)}).Aggregate(Max{&Other::number}).To(Discard{});

}  // namespace glaive::engine

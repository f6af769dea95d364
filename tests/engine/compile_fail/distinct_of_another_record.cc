// expect: glaive: an aggregate reads a member, or calls a function, of the stream's records: const Record&; this
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Visit {
  std::uint64_t page;
};

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Tumbling{absl::Seconds(1)})
                 .Aggregate(Several{Count{}, Distinct{&Visit::page}})
                 .To(Discard{});

}  // namespace glaive::engine

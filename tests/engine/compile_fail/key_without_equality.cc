// expect: glaive: KeyBy() needs a key without padding, pointers or floating-point numbers, and with an
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Page {
  std::uint64_t number;
};
auto query = Clicks()
                 .KeyBy([](const Click& click) { return Page{click.page}; })
                 .Window(Tumbling{absl::Seconds(1)})
                 .Aggregate(Count{})
                 .To(Discard{});

}  // namespace glaive::engine

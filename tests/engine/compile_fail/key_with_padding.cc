// expect: glaive: KeyBy() needs a key without padding, pointers or floating-point numbers, and with an
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Padded {
  char kind;
  std::uint64_t page;
  bool operator==(const Padded&) const = default;
};
auto query = Clicks()
                 .KeyBy([](const Click& click) { return Padded{'a', click.page}; })
                 .Window(Tumbling{absl::Seconds(1)})
                 .Aggregate(Count{})
                 .To(Discard{});

}  // namespace glaive::engine

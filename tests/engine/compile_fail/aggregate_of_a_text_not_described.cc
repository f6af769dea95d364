// expect: glaive: an aggregate reads a struct with a Text that is not described: write GLAIVE_RECORD(Struct, member,
// member, ...) beside it
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Page {
  Text site;
  std::uint64_t number;

  friend auto operator<=>(const Page&, const Page&) = default;
};

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(TopK<3>([](const Click& click) {
  return Page{.site = Text("page"), .number = click.page};
}));

}  // namespace glaive::engine

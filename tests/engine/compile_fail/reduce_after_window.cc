// expect: glaive: Reduce() comes before Window(); after Window() comes Aggregate(...)
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Reduce([](Click& sum, const Click& click) {
  sum.price += click.price;
});

}  // namespace glaive::engine

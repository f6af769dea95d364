// expect: glaive: Aggregate() takes an aggregate of the stream's records, such as Count{}; what Distinct{} counts could
// be a key
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Distinct{[](const Click&) {
  return std::string_view();
}});

}  // namespace glaive::engine

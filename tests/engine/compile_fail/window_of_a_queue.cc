// expect: glaive: this stream has no event times to be grouped by
#include "engine/api/generated.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

RecordQueue<Click> clicks(10);
auto query = FromQueue(clicks).KeyBy(&Click::page).Window(Session{absl::Minutes(1)}).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine

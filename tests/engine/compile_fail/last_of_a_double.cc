// expect: glaive: First{}, Last{} and TopK<K>() read what compares in a total order: integers, texts, or structs
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Window(Tumbling{absl::Seconds(1)}).Aggregate(Last{&Click::time_ms, &Click::price}).To(Discard{});

}  // namespace glaive::engine

#include "engine/api/stream.h"
#include "tests/fuzz/merge/queries.h"

namespace glaive::engine {

void AddSimpleQueries(Queries& queries) {
  queries.push_back(Windowed(Tumbling{absl::Milliseconds(20)}).Aggregate(Count{}).To(Discard{}));
  queries.push_back(
      Windowed(Sliding{absl::Milliseconds(40), absl::Milliseconds(10)}).Aggregate(Max{&Tick::time_ms}).To(Discard{}));
  queries.push_back(Windowed(Session{absl::Milliseconds(15)}).Aggregate(Count{}).To(Discard{}));
  queries.push_back(Windowed(Unbounded{}).Aggregate(Mean{&Tick::time_ms}).To(Discard{}));
}

}  // namespace glaive::engine

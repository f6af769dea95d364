#include "engine/api/stream.h"
#include "tests/fuzz/merge/queries.h"

namespace glaive::engine {

void AddWideQueries(Queries& queries) {
  queries.push_back(Windowed(Tumbling{absl::Milliseconds(20)}).Aggregate(Distinct{&Tick::time_ms}).To(Discard{}));
  queries.push_back(
      Windowed(Tumbling{absl::Milliseconds(20)})
          .Aggregate(Several{Sum{&Tick::narrow}, Sum{&Tick::wide}, Variance{&Tick::narrow}, Variance{&Tick::time_ms},
                             First{&Tick::time_ms, &Tick::key}, TopK<3>(&Tick::time_ms)})
          .To(Discard{}));
  queries.push_back(Windowed(Session{absl::Milliseconds(15)}).Aggregate(Mean{&Tick::narrow}).To(Discard{}));
}

}  // namespace glaive::engine

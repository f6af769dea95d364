// Records that come too late for their windows go to a file of their own, late.csv.
#include <cstdint>
#include <memory>

#include <absl/time/time.h>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>
#include <glaive/engine/sink/csv.h>

using namespace glaive::engine;

struct Event {
  std::uint64_t number;
  std::int64_t time_ms;
};
GLAIVE_RECORD(Event, number, time_ms)

/// Every 10,000th event comes 60 s late.
Event MakeEvent(std::uint64_t n) {
  const bool is_late = n % 10'000 == 9'999;
  return {.number = n, .time_ms = static_cast<std::int64_t>(n) * 10 + (is_late ? 0 : 60'000)};
}

std::unique_ptr<Query> CountEvents(const Results& results) {
  return FromRange(0, 30'000)
      .Map(&MakeEvent)
      .WithEventTime(&Event::time_ms, /*out_of_orderness=*/absl::Seconds(1))
      .Window(Tumbling{absl::Seconds(50)})
      .LateTo(Csv{"late.csv"})
      .Aggregate(Count{})
      .To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, CountEvents); }

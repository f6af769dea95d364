// Sessions: how many pages each user visits before a pause of half a minute or more.
#include <cstdint>
#include <memory>

#include <absl/time/time.h>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

struct Visit {
  std::uint64_t user;
  std::int64_t time_ms;
};

/// Users 0 to 3 take turns, each every 4 s, and all of them rest for a minute after 40 visits.
Visit MakeVisit(std::uint64_t n) {
  return {.user = n % 4, .time_ms = static_cast<std::int64_t>(n * 1000 + n / 40 * 60'000)};
}

std::unique_ptr<Query> CountVisits(const Results& results) {
  return FromRange(0, 120)
      .Map(&MakeVisit)
      .WithEventTime(&Visit::time_ms)
      .KeyBy(&Visit::user)
      .Window(Session{absl::Seconds(30)})
      .Aggregate(Count{})
      .To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, CountVisits); }

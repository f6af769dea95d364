// Joins two streams: the clicks of each minute with the views of ads that they belong to.
#include <cstdint>
#include <memory>

#include <absl/time/time.h>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/api/join.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

struct View {
  std::uint64_t id;
  std::uint64_t ad;
  std::int64_t time_ms;
};
struct Click {
  std::uint64_t view;
  std::int64_t time_ms;
};

View MakeView(std::uint64_t n) { return {.id = n, .ad = n % 4, .time_ms = static_cast<std::int64_t>(n) * 1000}; }
Click MakeClick(std::uint64_t n) { return {.view = n * 3, .time_ms = static_cast<std::int64_t>(n) * 3000 + 20'000}; }

std::unique_ptr<Query> Clicks(const Results& results) {
  return Join(FromRange(0, 300).Map(&MakeView).WithEventTime(&View::time_ms),
              FromRange(0, 100).Map(&MakeClick).WithEventTime(&Click::time_ms))
      .On(&View::id, &Click::view)
      .Window(Tumbling{absl::Minutes(1)})
      .Keep(&View::ad, &Click::time_ms)
      .To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, Clicks); }

// Sliding windows: every 20 s, the mean of the last minute's temperatures.
#include <cstdint>
#include <memory>

#include <absl/time/time.h>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

struct Reading {
  std::int64_t time_ms;
  double degrees;
};

Reading MakeReading(std::uint64_t n) {
  return {.time_ms = static_cast<std::int64_t>(n) * 5000, .degrees = static_cast<double>(n % 8) / 4};
}

std::unique_ptr<Query> Means(const Results& results) {
  return FromRange(0, 60)
      .Map(&MakeReading)
      .WithEventTime(&Reading::time_ms)
      .Window(Sliding{.size = absl::Minutes(1), .slide = absl::Seconds(20)})
      .Aggregate(Mean{&Reading::degrees})
      .To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, Means); }

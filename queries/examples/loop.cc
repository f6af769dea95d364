// A loop: the mean of all values within 100 of the mean so far, until it no longer changes.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/api/loop.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

std::int64_t Measure(std::uint64_t n) { return static_cast<std::int64_t>(n % 10 == 0 ? n : 400 + n % 10); }

bool IsNear(std::int64_t value, std::int64_t mean) { return std::abs(value - mean) <= 100; }

/// Whether the mean has moved.
bool Move(std::int64_t& mean, std::optional<double> of_iteration) {
  const std::int64_t before = mean;
  mean = static_cast<std::int64_t>(of_iteration.value_or(0));
  return mean != before;
}

std::unique_ptr<Query> TrimmedMean(const Results& results) {
  return Replay(
             FromRange(0, 1000).Map(&Measure), {.most_iterations = 100}, std::int64_t{500},
             [](auto values, const LoopState<std::int64_t>& mean) { return mean.Filter(std::move(values), &IsNear); },
             Mean{[](std::int64_t value) { return value; }}, &Move)
      .To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, TrimmedMean); }

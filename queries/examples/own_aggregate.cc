// An aggregate of one's own: how far apart the least and the greatest value of a key are.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

/// Executors update their own and merge them later: in any order, with the same result.
struct SpreadValue {
  using Input = std::uint64_t;

  void Update(std::uint64_t value) { Merge({.least = value, .greatest = value}); }
  void Merge(const SpreadValue& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
  std::uint64_t Result() const { return greatest - least; }
  friend bool operator==(const SpreadValue&, const SpreadValue&) = default;

  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t greatest = 0;
};

struct Spread {
  template <typename R>
  using Value = SpreadValue;
  std::uint64_t Input(std::uint64_t number) const { return number; }
};

std::unique_ptr<Query> Spreads(const Results& results) {
  return FromRange(0, 1000).KeyBy([](std::uint64_t n) { return n % 7; }).Aggregate(Spread{}).To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, Spreads); }

// Tick: the least that a generated record can be, for tests of what is common to all queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "queries/common/generator.h"
#include "queries/common/random.h"

namespace glaive::queries {

struct Tick {
  std::uint64_t key;
  std::int64_t time_ms;
  double price;
};

inline std::int64_t TickTime(const Tick& tick) { return tick.time_ms; }

/// Ticks by the options' keys and timeline. Prices are multiples of 1/64, so their sums are exact in any order.
class TickGenerator final : public DrawnGenerator<Tick, 2> {
 public:
  explicit TickGenerator(const InputOptions& options) : DrawnGenerator(options) {}

 private:
  Tick Make(std::int64_t event_time_ms, const Draws& draw) const override {
    return {.key = keys().Draw(draw(0)),
            .time_ms = event_time_ms,
            .price = static_cast<double>(Below(1'000, draw(1))) / 64 - 5};
  }
};

/// The same list of event times for every executor; keys are the records' numbers.
class ListedTicks final : public Generator<Tick> {
 public:
  explicit ListedTicks(std::vector<std::int64_t> times_ms) : times_ms_(std::move(times_ms)) {}

  void Fill(std::uint32_t /*executor*/, std::uint64_t first, std::span<Tick> ticks) const override {
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      ticks[i] = {.key = first + i, .time_ms = times_ms_.at(first + i), .price = 0};
    }
  }

 private:
  std::vector<std::int64_t> times_ms_;
};

}  // namespace glaive::queries

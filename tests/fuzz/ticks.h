// Ticks: the records of the fuzzed queries, and a source of few of them.
//
//   queries.push_back(Windowed(Tumbling{absl::Milliseconds(20)}).Aggregate(Count{}).To(Discard{}));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/api/stream.h"
#include "engine/sink/discard.h"
#include "engine/source/block_source.h"

namespace glaive::engine {

using Queries = std::vector<std::unique_ptr<Query>>;

struct Tick {
  std::uint64_t key;
  std::int64_t time_ms;
  float narrow;
  double wide;
};

inline constexpr auto kTickTime = [](const Tick& tick) { return tick.time_ms; };

/// Eight ticks of two keys.
inline auto Ticks() {
  const auto open = [](const SourceContext& context) {
    const auto generate = [](std::uint64_t first, std::span<Tick> ticks) {
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        ticks[i] = {
            .key = (first + i) % 2, .time_ms = static_cast<std::int64_t>(first + i) * 10, .narrow = 0.5F, .wide = 0.25};
      }
    };
    return BlockSource<Tick, decltype(kTickTime)>::Create(
        {.block_records = 8, .total_records = 8, .span_ms = 80, .batch_records = 0}, *context.clock, generate,
        kTickTime);
  };
  return SourceSpec<Tick, decltype(kTickTime)>{.open = open, .event_time_ms = kTickTime};
}

/// Ticks by key and window.
template <typename Window>
auto Windowed(Window window) {
  return From(Ticks()).KeyBy(&Tick::key).Window(window);
}

}  // namespace glaive::engine

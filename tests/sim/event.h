// Event, and the flows that a simulated cluster reads: plain values that know nothing of the engine.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace glaive::sim {

inline constexpr std::int64_t kBeginningMs = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kEndMs = std::numeric_limits<std::int64_t>::max();

/// A record of the input.
struct Event {
  std::uint64_t key = 0;
  std::int64_t time_ms = 0;
  std::int64_t amount = 0;
  float weight = 0;        ///< a multiple of 2^-8, some of them so large that doubles round their sums with others
  std::uint64_t kind = 0;  ///< 0, 1 or 2

  friend bool operator==(const Event&, const Event&) = default;
};

/// What a source hands out at a time.
struct Batch {
  std::vector<Event> events;
  std::int64_t watermark_ms = kBeginningMs;  ///< behind them
  std::int64_t silence_ns = 0;               ///< of the source before them
};

using Flow = std::vector<Batch>;

/// The flows of a run: by source, then by executor.
struct Input {
  std::vector<std::vector<Flow>> sources;
  std::int64_t lateness_ms = 0;  ///< that queries allow
};

}  // namespace glaive::sim

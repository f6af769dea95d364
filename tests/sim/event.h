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
  float weight = 0;        ///< a multiple of 2^-8 up to 16, or one that doubles cannot add to others without rounding
  std::uint64_t kind = 0;  ///< 0, 1 or 2

  friend bool operator==(const Event&, const Event&) = default;
};

/// An amount that is so large that a few of them do not fit 64 bits. Amounts are -1,000 to 1,000.
inline constexpr int kBigAmountBits = 53;
inline std::int64_t BigAmount(const Event& event) { return event.amount * (std::int64_t{1} << kBigAmountBits); }

/// What a source hands out at a time.
struct Batch {
  std::vector<Event> events;
  std::int64_t watermark_ms = kBeginningMs;  ///< behind them
  std::int64_t silence_ns = 0;               ///< of the source before them
};

using Flow = std::vector<Batch>;

/// The flows of a run: by source, then by executor that reads.
struct Input {
  std::vector<std::vector<Flow>> sources;
  std::int64_t lateness_ms = 0;  ///< that queries allow
  std::uint64_t graph_seed = 0;  ///< which of its random graphs a query is
  std::int64_t nodes = 1;        ///< of the run
  std::size_t executors = 1;     ///< likewise; some of them may read nothing
};

}  // namespace glaive::sim

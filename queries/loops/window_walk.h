// WindowWalk: divides the records of a stream into tumbling windows, as the hand-written loops do.
//
// Requires: event times never decrease. Owned and used by one thread.
//
//   WindowWalk walk({.window_ms = 60'000, .most_records = 256});
//   walk.Take(bids, /*shift_ms=*/0, BidTime{}, [&](std::span<const Bid> chunk) { ... },
//             [&](std::int64_t window_start_ms) { ... });
//   walk.End([&](std::int64_t window_start_ms) { ... });
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "queries/loops/chunk.h"

namespace glaive::queries {

/// The end of a window that starts at `start_ms`; of the only window with a `window_ms` of 0.
inline std::int64_t WindowEnd(std::int64_t start_ms, std::int64_t window_ms) {
  return window_ms == 0 ? std::numeric_limits<std::int64_t>::max() : start_ms + window_ms;
}

struct WindowWalkOptions {
  std::int64_t window_ms = 0;    // 0: all records are of one window, which ends with the stream
  std::size_t most_records = 1;  // of a chunk
};

class WindowWalk {
 public:
  explicit WindowWalk(const WindowWalkOptions& options) : options_(options) {}

  /// Calls `take(chunk)` for chunks of `records` of one window, and `fire(window_start_ms)` behind the last record of
  /// each window. `shift_ms` is added to the records' event times.
  template <typename R, typename TimeMs, typename TakeChunk, typename Fire>
  void Take(std::span<const R> records, std::int64_t shift_ms, const TimeMs& time_ms, const TakeChunk& take,
            const Fire& fire) {
    for (std::span<const R> rest = records; !rest.empty();) {
      const std::int64_t first_ms = time_ms(rest.front()) + shift_ms;
      if (!start_ms_.has_value() || first_ms >= WindowEnd(*start_ms_, options_.window_ms)) {
        End(fire);
        start_ms_ = options_.window_ms == 0 ? std::numeric_limits<std::int64_t>::min()
                                            : first_ms - first_ms % options_.window_ms;
      }
      const std::int64_t end_ms = WindowEnd(*start_ms_, options_.window_ms) - shift_ms;
      const std::span<const R> chunk = ChunkBefore(end_ms, rest, options_.most_records, time_ms);
      rest = rest.subspan(chunk.size());
      take(chunk);
    }
  }

  /// The stream ends, and with it the window of the last record.
  template <typename Fire>
  void End(const Fire& fire) {
    if (start_ms_.has_value()) {
      fire(*start_ms_);
      start_ms_.reset();
    }
  }

 private:
  WindowWalkOptions options_;
  std::optional<std::int64_t> start_ms_;  // of the window of the last record
};

}  // namespace glaive::queries

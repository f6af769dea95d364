// WalkWindows: goes through a block of records by tumbling windows, as the hand-written loops do.
//
//   WalkWindows(bids, {.repetitions = 4, .block_span_ms = 600'000, .window_ms = 60'000, .most = 256}, BidTime{},
//               [&](std::span<const Bid> chunk) { ... }, [&](std::int64_t window_start_ms) { ... });
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "bench/baseline/chunk.h"
#include "rdma/base/check.h"

namespace glaive::bench {

struct WindowWalk {
  std::uint64_t repetitions = 1;  // of the block; each moves event time on by `block_span_ms`
  std::int64_t block_span_ms = 0;
  std::int64_t window_ms = 0;  // divides `block_span_ms`; 0: all records are of one window, which ends behind them
  std::size_t most = 1;        // records of a chunk
};

/// The end of a window that starts at `start_ms`.
inline std::int64_t WindowEnd(std::int64_t start_ms, std::int64_t window_ms) {
  return window_ms == 0 ? std::numeric_limits<std::int64_t>::max() : start_ms + window_ms;
}

/// Calls `take(chunk)` for chunks of records of one window, and `fire(window_start_ms)` behind the records of each
/// window. Before the first record it fires a window that has none.
template <typename R, typename TimeMs, typename Take, typename Fire>
void WalkWindows(std::span<const R> block, const WindowWalk& walk, const TimeMs& time_ms, const Take& take,
                 const Fire& fire) {
  const std::int64_t window_ms = walk.window_ms;
  GLAIVE_CHECK(window_ms == 0 || walk.block_span_ms % window_ms == 0, "a block spans ", walk.block_span_ms,
               " ms, no multiple of ", window_ms);
  std::int64_t window_start_ms = std::numeric_limits<std::int64_t>::min();
  // In the block's own time, which starts over with each repetition. The first record opens its window.
  std::int64_t window_end_ms = window_ms == 0 ? std::numeric_limits<std::int64_t>::max() : window_start_ms;
  for (std::uint64_t repetition = 0; repetition < walk.repetitions && !block.empty(); ++repetition) {
    const std::int64_t moved_on_ms = static_cast<std::int64_t>(repetition) * walk.block_span_ms;
    for (std::span<const R> rest = block; !rest.empty();) {
      if (time_ms(rest.front()) >= window_end_ms) {
        fire(window_start_ms);
        const std::int64_t first_ms = time_ms(rest.front());
        window_end_ms = first_ms - first_ms % window_ms + window_ms;
        window_start_ms = window_end_ms - window_ms + moved_on_ms;
      }
      const std::span<const R> chunk = ChunkBefore(window_end_ms, rest, walk.most, time_ms);
      rest = rest.subspan(chunk.size());
      take(chunk);
    }
    window_end_ms -= window_ms == 0 ? 0 : walk.block_span_ms;
  }
  fire(window_start_ms);
}

}  // namespace glaive::bench

// ChunkBefore: the next records of a block that belong to a window, some hundred at most, so that what is made of them
// stays in the first-level cache. Only one of them is read as a rule: event times never decrease.
//
//   for (std::span<const Bid> rest = bids; !rest.empty();) {
//     const std::span<const Bid> chunk = ChunkBefore(window_end_ms, rest, /*most=*/256, BidTime{});
//     rest = rest.subspan(chunk.size());
//   }
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace glaive::queries {

/// The first of `records` with times before `end_ms`, at most `most`. `records` is not empty.
template <typename R, typename TimeMs>
std::span<const R> ChunkBefore(std::int64_t end_ms, std::span<const R> records, std::size_t most,
                               const TimeMs& time_ms) {
  const std::span<const R> chunk = records.first(std::min(records.size(), most));
  if (time_ms(chunk.back()) < end_ms) {
    return chunk;
  }
  const auto in_window = [&](const R& record) { return time_ms(record) < end_ms; };
  const auto end = std::partition_point(chunk.begin(), chunk.end(), in_window);
  return chunk.first(static_cast<std::size_t>(end - chunk.begin()));
}

}  // namespace glaive::queries

// Event time: milliseconds since 1970 as a signed 64-bit number, and the two ends of the scale.
#pragma once

#include <cstdint>
#include <limits>

namespace glaive::engine {

/// The watermark of a flow that has read nothing yet.
inline constexpr std::int64_t kMinEventTimeMs = std::numeric_limits<std::int64_t>::min();
/// The end of the scale, +infinity. No record has it; a window without an end has it as its end.
inline constexpr std::int64_t kMaxEventTimeMs = std::numeric_limits<std::int64_t>::max();
/// The watermark of a flow that has ended, also +infinity: the minimum over all flows passes it by, so no window and no
/// other flow waits for this one. Markers and vector clocks have it. Between operators EndOfStream stands for it, and
/// in the messages of exchanges FlowState::kEnded: a Watermark is always less.
inline constexpr std::int64_t kEndedMs = kMaxEventTimeMs;

/// A watermark held back by `by_ms`, not negative; the two ends of the scale stay.
constexpr std::int64_t HeldBack(std::int64_t watermark_ms, std::int64_t by_ms) {
  if (watermark_ms == kEndedMs) {
    return kEndedMs;
  }
  return watermark_ms < kMinEventTimeMs + by_ms ? kMinEventTimeMs : watermark_ms - by_ms;
}

/// The sum of two lengths of event time, of which the first may be negative; no more than a quarter of the scale.
constexpr std::int64_t AddDelays(std::int64_t a_ms, std::int64_t b_ms) {
  constexpr std::int64_t kMostMs = kMaxEventTimeMs / 4;
  return a_ms >= kMostMs || b_ms >= kMostMs - a_ms ? kMostMs : a_ms + b_ms;
}

}  // namespace glaive::engine

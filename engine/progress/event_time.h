// Event time: milliseconds since 1970 as a signed 64-bit number, and the two ends of the scale.
#pragma once

#include <cstdint>
#include <limits>

namespace glaive::engine {

/// The watermark of a flow that has read nothing yet.
inline constexpr std::int64_t kMinEventTimeMs = std::numeric_limits<std::int64_t>::min();
/// The watermark of a flow that has ended: it holds nobody back.
inline constexpr std::int64_t kMaxEventTimeMs = std::numeric_limits<std::int64_t>::max();

}  // namespace glaive::engine

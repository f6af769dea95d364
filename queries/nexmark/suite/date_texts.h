// Dates as the queries write them. They fit into a text.
//
//   DayOf(1'436'918'400'000)       // 2015-07-15
//   MinuteOf(1'436'918'400'000)    // 00:00
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/time/time.h"

#include "state/record/text.h"

namespace glaive::queries::nexmark::suite {

/// Of a time in UTC, in ms since 1970.
inline Text DayOf(std::int64_t time_ms) {
  return std::string_view(absl::FormatTime("%Y-%m-%d", absl::FromUnixMillis(time_ms), absl::UTCTimeZone()));
}
inline Text MinuteOf(std::int64_t time_ms) {
  return std::string_view(absl::FormatTime("%H:%M", absl::FromUnixMillis(time_ms), absl::UTCTimeZone()));
}

}  // namespace glaive::queries::nexmark::suite

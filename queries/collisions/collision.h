// Collision: what the queries read of a motor vehicle collision, in 104 bytes and its texts.
//
//   week        its Monday, in days since 1970
//   lethal      1 if at least one person was killed, else 0
//   borough     empty where the city does not know it
//   factors     what contributed to it, up to one for each vehicle; empty ones are none
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::queries::collisions {

inline constexpr std::size_t kMostFactors = 5;

struct Collision {
  std::int32_t week;
  std::uint32_t lethal;
  Text borough;
  std::array<Text, kMostFactors> factors;
};
GLAIVE_RECORD(Collision, week, lethal, borough, factors)

static_assert(sizeof(Collision) == 104);

/// The Monday of a day's week, which ends with the Sunday behind it.
constexpr std::int32_t WeekOf(std::chrono::sys_days day) {
  const auto since_monday = static_cast<std::int32_t>(std::chrono::weekday(day).iso_encoding()) - 1;
  return static_cast<std::int32_t>(day.time_since_epoch().count()) - since_monday;
}

}  // namespace glaive::queries::collisions

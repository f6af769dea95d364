// Dates as the queries write them. They fit into a text.
//
//   DayOf(1'436'918'400'000)       // 2015-07-15
//   MinuteOf(1'436'918'400'000)    // 00:00
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "state/record/text.h"

namespace glaive::queries {

/// The two digits of a number below 100.
inline void PutTwoDigits(char* at, unsigned number) {
  at[0] = static_cast<char>('0' + number / 10);
  at[1] = static_cast<char>('0' + number % 10);
}

/// Of a time in UTC, in ms since 1970, before the year 10,000.
inline Text DayOf(std::int64_t time_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(time_ms)};
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
  const auto year = static_cast<unsigned>(static_cast<int>(day.year()));
  std::array<char, 10> text{'0', '0', '0', '0', '-', '0', '0', '-', '0', '0'};
  PutTwoDigits(&text[0], year / 100 % 100);
  PutTwoDigits(&text[2], year % 100);
  PutTwoDigits(&text[5], static_cast<unsigned>(day.month()));
  PutTwoDigits(&text[8], static_cast<unsigned>(day.day()));
  return std::string_view(text.data(), text.size());
}
inline Text MinuteOf(std::int64_t time_ms) {
  const std::int64_t minutes = (time_ms % 86'400'000 + 86'400'000) % 86'400'000 / 60'000;
  std::array<char, 5> text{'0', '0', ':', '0', '0'};
  PutTwoDigits(&text[0], static_cast<unsigned>(minutes / 60));
  PutTwoDigits(&text[3], static_cast<unsigned>(minutes % 60));
  return std::string_view(text.data(), text.size());
}

}  // namespace glaive::queries

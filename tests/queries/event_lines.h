// Events as the lines of text that their parsers read, for tests that need input files; and what no parser may fail on.
//
//   std::string line = JsonLine(generator.At(executor, number));
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "engine/format/line_parser.h"
#include "queries/cm/task_event.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::queries {

/// 16 bytes as a UUID is written.
inline std::string UuidText(const std::uint8_t* bytes) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    absl::StrAppend(&text, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", absl::StrFormat("%02x", bytes[i]));
  }
  return text;
}

/// As the Yahoo Streaming Benchmark's generator writes it, without the newline. Its ad_id is the event's ad_uuid.
inline std::string JsonLine(const ysb::YsbEvent& event) {
  constexpr std::array<const char*, ysb::kAdTypes> kAdTypeNames = {"banner", "modal", "sponsored-search", "mail",
                                                                   "mobile"};
  constexpr std::array<const char*, ysb::kEventTypes> kEventTypeNames = {"view", "click", "purchase"};
  const std::uint32_t ip = event.ip;
  const std::int64_t event_time_ms = event.event_time_ms;
  return absl::StrCat(
      R"({"user_id": ")", UuidText(event.user_id), R"(", "page_id": ")", UuidText(event.page_id), R"(", "ad_id": ")",
      UuidText(event.ad_uuid), R"(", "ad_type": ")", kAdTypeNames[static_cast<std::size_t>(event.ad_type)],
      R"(", "event_type": ")", kEventTypeNames[static_cast<std::size_t>(event.event_type)], R"(", "event_time": ")",
      event_time_ms, R"(", "ip_address": ")", ip >> 24, ".", ip >> 16 & 255, ".", ip >> 8 & 255, ".", ip & 255, "\"}");
}

/// As the trace has it, without the newline; every field is there.
inline std::string CsvLine(const cm::TaskEvent& event, std::string_view user) {
  return absl::StrCat(event.timestamp_us, ",,", event.job_id, ",", event.task_index, ",", event.machine_id, ",",
                      static_cast<std::int32_t>(event.event_type), ",", std::string(user), ",", event.category, ",",
                      event.priority, ",", absl::StrFormat("%.9g,%.9g,%.9g", event.cpu, event.ram, event.disk), ",",
                      event.constraint);
}

/// A `line` with some random bytes changed is refused with a place in it, or read; noise is refused. `parse(line)`
/// returns what has `parsed` and `error`.
template <typename ParseLine>
void ExpectDamageIsRefusedOrRead(std::string_view line, const ParseLine& parse) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged(line);
    for (std::uint64_t damage = 1 + random() % 5; damage > 0; --damage) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const auto outcome = parse(damaged);
    if (outcome.parsed == engine::Parsed::kBad) {
      EXPECT_GE(outcome.error.column, 1U);
      EXPECT_LE(outcome.error.column, damaged.size() + 1);
      EXPECT_FALSE(outcome.error.reason.empty());
    }
    std::string noise(random() % 200, '\0');
    std::generate(noise.begin(), noise.end(), [&] { return static_cast<char>(random()); });
    EXPECT_EQ(parse(noise).parsed, engine::Parsed::kBad);
  }
}

}  // namespace glaive::queries

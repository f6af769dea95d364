// What holds for every Generator, whatever its records: tests of each of them call these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "queries/common/generator.h"

namespace glaive::queries {

/// Records 0 .. count - 1 of an executor.
template <typename R>
std::vector<R> FirstRecords(const Generator<R>& generator, std::uint64_t count, std::uint32_t executor = 0) {
  std::vector<R> records(count);
  generator.Fill(executor, 0, records);
  return records;
}

template <typename R>
bool SameBytes(const R& a, const R& b) {
  static_assert(std::is_trivially_copyable_v<R>);
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bytes are what is compared, also of floats
  return std::memcmp(&a, &b, sizeof(R)) == 0;
}

/// Fills record by record, backwards, and in parts from here and there, and compares with one Fill.
template <typename R>
void ExpectAnyPartInAnyOrderIsTheSame(const Generator<R>& generator) {
  const std::uint32_t executor = 3;
  const std::vector<R> whole = FirstRecords(generator, 10'000, executor);
  for (std::uint64_t number = whole.size(); number-- > 0;) {
    R record;
    generator.Fill(executor, number, std::span(&record, 1));
    ASSERT_TRUE(SameBytes(whole[number], record)) << "record " << number;
  }
  std::vector<R> part(100);
  for (const std::uint64_t first : {0, 1, 4'321, 9'900}) {
    generator.Fill(executor, first, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first), SameBytes<R>))
        << "first " << first;
  }
}

/// No two of the records of three executors under three seeds are the same, although all have the same event time.
template <typename R>
void ExpectSeedsAndExecutorsDrawDifferentRecords(
    const std::function<std::unique_ptr<Generator<R>>(const InputOptions&)>& make) {
  std::set<std::string> records;
  for (const std::uint64_t seed : {0, 1, 2}) {
    InputOptions input{.seed = seed, .keys = {.count = 1'000'000}};
    input.timeline.rate = {.records = 1'000'000'000, .span_ms = 1};
    for (const std::uint32_t executor : {0U, 1U, 159U}) {
      for (const R& record : FirstRecords(*make(input), 1'000, executor)) {
        records.emplace(reinterpret_cast<const char*>(&record), sizeof(record));
      }
    }
  }
  EXPECT_EQ(records.size(), 9'000U);
}

/// Event times are the timeline's: in order on the dot, with disorder at most that much before.
template <typename R, typename EventTime>
void ExpectEventTimesOfTheTimeline(const std::function<std::unique_ptr<Generator<R>>(const InputOptions&)>& make,
                                   EventTime event_time_ms) {
  for (const std::int64_t disorder_ms : {0, 250}) {
    InputOptions input{.seed = 7, .keys = {.count = 10}};
    input.timeline = {.rate = {.records = 7'919, .span_ms = 104'729}, .align_ms = 60'000, .disorder_ms = disorder_ms};
    const Timeline timeline(input.timeline);
    std::int64_t most_behind_ms = 0;
    std::uint64_t number = 0;
    for (const R& record : FirstRecords(*make(input), 10'000, /*executor=*/2)) {
      const std::int64_t behind_ms = timeline.InOrderMs(number++) - event_time_ms(record);
      ASSERT_GE(behind_ms, 0) << "record " << number;
      ASSERT_LE(behind_ms, disorder_ms) << "record " << number;
      most_behind_ms = std::max(most_behind_ms, behind_ms);
    }
    EXPECT_EQ(most_behind_ms, disorder_ms);
  }
}

}  // namespace glaive::queries

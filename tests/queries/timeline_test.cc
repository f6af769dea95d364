#include "queries/common/timeline.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queries/statistics.h"

namespace glaive::queries {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kStream = 12345;

std::vector<std::int64_t> Times(const Timeline& timeline, std::uint64_t first, std::uint64_t count,
                                std::uint64_t stream = kStream) {
  std::vector<std::int64_t> times;
  for (Timeline::Cursor cursor = timeline.From(stream, first); times.size() < count;) {
    times.push_back(cursor.Next());
  }
  return times;
}

TEST(TimelineTest, TimeRisesEvenlyFromTheStartAndABlockSpansExactlyTheRate) {
  const Timeline timeline({.rate = {.records = 60'000, .span_ms = 6'000'000}, .start_time_ms = 20'000});
  std::int64_t expected_ms = 20'000;
  for (const std::int64_t time_ms : Times(timeline, 0, 60'000)) {
    ASSERT_EQ(time_ms, expected_ms);
    expected_ms += 100;
  }
  EXPECT_EQ(timeline.InOrderMs(0), timeline.start_time_ms());
  EXPECT_EQ(timeline.InOrderMs(59'999), 20'000 + 6'000'000 - 100);
  EXPECT_EQ(timeline.InOrderMs(60'000), 20'000 + 6'000'000);
  EXPECT_EQ(timeline.InOrderMs(60'000'000), 20'000 + 6'000'000'000);
}

TEST(TimelineTest, SeveralRecordsShareAMillisecondWhenTheRateSaysSo) {
  const Timeline timeline({.rate = {.records = 3, .span_ms = 2}, .start_time_ms = 0});
  EXPECT_THAT(Times(timeline, 0, 9), testing::ElementsAre(0, 0, 1, 2, 2, 3, 4, 4, 5));
}

TEST(TimelineTest, ACursorFromAnywhereSaysWhatTheNumbersSayWhateverTheRate) {
  for (const EventRate rate :
       {EventRate{.records = 7'919, .span_ms = 104'729}, EventRate{.records = 104'729, .span_ms = 7'919},
        EventRate{.records = 1, .span_ms = 1'000'000}, EventRate{.records = UINT64_MAX, .span_ms = 1},
        EventRate{.records = UINT64_MAX - 4, .span_ms = std::int64_t{1} << 52}, EventRate{.records = 3, .span_ms = 1},
        EventRate{.records = 1ULL << 40, .span_ms = 999}}) {
    const Timeline timeline({.rate = rate});
    for (const std::uint64_t first : {0ULL, 1ULL, 4'321ULL, 1ULL << 32}) {
      std::uint64_t number = first;
      for (const std::int64_t time_ms : Times(timeline, first, 1'000)) {
        ASSERT_EQ(time_ms, timeline.InOrderMs(number))
            << rate.records << " in " << rate.span_ms << " ms, record " << number;
        ++number;
      }
    }
  }
}

TEST(TimelineTest, DisorderMovesTimesBackByAnythingUpToItsBound) {
  constexpr std::int64_t kDisorderMs = 9;
  constexpr std::uint64_t kRecords = 50'000;
  const Timeline timeline({.rate = {.records = 7, .span_ms = 5}, .disorder_ms = kDisorderMs});
  std::vector<std::uint64_t> behind(kDisorderMs + 1);
  std::uint64_t number = 0;
  for (const std::int64_t time_ms : Times(timeline, 0, kRecords)) {
    ++behind.at(static_cast<std::size_t>(timeline.InOrderMs(number++) - time_ms));
  }
  for (const std::uint64_t count : behind) {
    ExpectShare(count, kRecords, 1.0 / (kDisorderMs + 1), "each millisecond up to the disorder, and none");
  }
}

TEST(TimelineTest, ALargeDisorderReachesNearBothEnds) {
  constexpr std::int64_t kDisorderMs = 1'000'000;
  const Timeline timeline({.disorder_ms = kDisorderMs});
  std::vector<std::int64_t> behind = Times(timeline, 0, 10'000);
  for (std::uint64_t number = 0; number < behind.size(); ++number) {
    behind[number] = timeline.InOrderMs(number) - behind[number];
  }
  const auto [least, most] = std::ranges::minmax(behind);
  EXPECT_GE(least, 0);
  EXPECT_LE(least, kDisorderMs / 1'000);
  EXPECT_LE(most, kDisorderMs);
  EXPECT_GE(most, kDisorderMs - kDisorderMs / 1'000);
}

TEST(TimelineTest, DisorderIsTheSameFromAnywhereAndAnotherInEveryStream) {
  const Timeline timeline({.rate = {.records = 7, .span_ms = 5}, .disorder_ms = 1'000'000'000});
  const std::vector<std::int64_t> whole = Times(timeline, 0, 1'000);
  for (const std::uint64_t first : {1U, 500U, 999U}) {
    EXPECT_EQ(Times(timeline, first, 1).front(), whole[first]);
  }
  EXPECT_NE(Times(timeline, 0, 1, kStream + 1).front(), whole.front());
  EXPECT_NE(Times(timeline, 0, 1, kStream + kCounterStep).front(), whole[1]) << "streams do not run into each other";
}

TEST(TimelineTest, TheStartIsRoundedDownToWhatItIsAlignedTo) {
  const Timeline timeline({.start_time_ms = 20'999, .align_ms = 7'000});
  EXPECT_EQ(timeline.start_time_ms(), 14'000);
  EXPECT_EQ(timeline.InOrderMs(0), 14'000);
  EXPECT_EQ(Times(timeline, 0, 1).front(), 14'000);
  EXPECT_EQ(Timeline({.start_time_ms = 21'000, .align_ms = 7'000}).start_time_ms(), 21'000);
  EXPECT_EQ(Timeline({.start_time_ms = 6'999, .align_ms = 7'000}).start_time_ms(), 0);
}

TEST(TimelineOptionsTest, WhatIsOutOfRangeIsRefusedByName) {
  const auto message = [](const TimelineOptions& options) { return Validate(options).ToString(); };
  EXPECT_TRUE(Validate(TimelineOptions{}).ok());
  EXPECT_THAT(message({.rate = {.records = 0}}), HasSubstr("number of records is 0; it must be from 1 to"));
  EXPECT_THAT(message({.rate = {.span_ms = 0}}), HasSubstr("span in ms is 0; it must be from 1 to"));
  EXPECT_THAT(message({.rate = {.span_ms = (std::int64_t{1} << 52) + 1}}), HasSubstr("span in ms is 4503599627370497"));
  EXPECT_THAT(message({.start_time_ms = -1}), HasSubstr("the start time in ms is -1; it must be from 0 to"));
  EXPECT_THAT(message({.align_ms = 0}), HasSubstr("what the start is a multiple of, in ms, is 0; it must be from 1"));
  EXPECT_THAT(message({.align_ms = -5}), HasSubstr("a multiple of, in ms, is -5"));
  EXPECT_THAT(message({.disorder_ms = -1}), HasSubstr("the disorder in ms is -1; it must be from 0 to"));
}

TEST(TimelineDeathTest, WrongOptionsEndTheProcessByName) {
  EXPECT_DEATH(Timeline({.align_ms = 0}), "what the start is a multiple of, in ms, is 0");
}

}  // namespace
}  // namespace glaive::queries

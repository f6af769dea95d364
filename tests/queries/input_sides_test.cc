#include "queries/common/input_sides.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queries/generator_checks.h"
#include "tests/queries/tick.h"

namespace glaive::queries {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kSidesWindowMs = 60'000;

std::vector<Tick> TicksOf(const InputSide& side, std::uint32_t executor = 0) {
  return FirstRecords<Tick>(TickGenerator(side.options), side.block.block_records, executor);
}

TEST(InputSidesTest, OfFiveRecordsFourAreTheLeftSides) {
  for (const auto& [records, left, right] :
       {std::tuple(5U, 4U, 1U), std::tuple(1'000U, 800U, 200U), std::tuple(1'004U, 804U, 200U)}) {
    const InputSides sides = MakeSides({.records = records, .rate = 100}, kSidesWindowMs);
    EXPECT_EQ(sides.left.flags.records, left);
    EXPECT_EQ(sides.left.block.block_records, left);
    EXPECT_EQ(sides.left.block.total_records, left);
    EXPECT_EQ(sides.right.flags.records, right);
    EXPECT_EQ(sides.right.block.block_records, right);
    EXPECT_EQ(sides.right.block.total_records, right);
    EXPECT_DOUBLE_EQ(sides.left.block.records_per_second + sides.right.block.records_per_second, 100);
    EXPECT_NEAR(sides.left.block.records_per_second, 80, 0.1);
  }
}

TEST(InputSidesTest, BothCoverTheSameEventTime) {
  for (const std::uint64_t event_rate : {0U, 1U, 3U, 1'000U}) {
    const InputSides sides = MakeSides({.records = 10'000, .event_rate = event_rate}, kSidesWindowMs);
    const std::int64_t span_ms =
        event_rate == 0 ? 10 * kSidesWindowMs : 10'000'000 / static_cast<std::int64_t>(event_rate);
    for (const InputSide* side : {&sides.left, &sides.right}) {
      EXPECT_TRUE(Validate(side->options).ok());
      const Timeline timeline(side->options.timeline);
      EXPECT_EQ(timeline.start_time_ms(), Timeline(sides.left.options.timeline).start_time_ms());
      EXPECT_EQ(timeline.InOrderMs(side->block.block_records) - timeline.start_time_ms(), span_ms);
    }
  }
}

TEST(InputSidesTest, RepetitionsMoveBothOnByTheSameWholeWindows) {
  for (const std::uint64_t records : {5U, 9U, 10'000U, 10'004U}) {
    for (const std::uint64_t event_rate : {0U, 1U, 7U, 1'000U}) {
      const InputSides sides =
          MakeSides({.records = records, .seconds = absl::Seconds(1), .event_rate = event_rate}, kSidesWindowMs);
      EXPECT_EQ(sides.left.block.span_ms, sides.right.block.span_ms);
      EXPECT_EQ(sides.left.block.span_ms % kSidesWindowMs, 0);
      for (const InputSide* side : {&sides.left, &sides.right}) {
        EXPECT_EQ(side->block.duration_ns, 1'000'000'000);
        const Timeline timeline(side->options.timeline);
        EXPECT_GE(timeline.start_time_ms() + side->block.span_ms, timeline.InOrderMs(side->flags.records - 1));
      }
    }
  }
}

TEST(InputSidesTest, DisorderWatermarksAndKeysAreThoseOfBoth) {
  const InputSides sides = MakeSides({.records = 1'000,
                                      .keys = 7,
                                      .hot_key_share = 0.5,
                                      .disorder = absl::Milliseconds(20),
                                      .allowed_lateness = absl::Milliseconds(5),
                                      .watermark_every = 9},
                                     kSidesWindowMs);
  for (const InputSide* side : {&sides.left, &sides.right}) {
    EXPECT_EQ(side->options.keys.count, 7U);
    EXPECT_EQ(side->options.keys.hot_share, 0.5);
    EXPECT_EQ(side->options.timeline.disorder_ms, 20);
    EXPECT_EQ(side->flags.allowed_lateness_ms(), 5);
    EXPECT_EQ(side->block.watermark_every, 9U);
  }
}

TEST(InputSidesTest, ASeedMakesBothSidesAndMakesThemDiffer) {
  const auto keys_of = [](const InputSide& side) {
    std::vector<std::uint64_t> keys;
    for (const Tick& tick : TicksOf(side)) {
      keys.push_back(tick.key);
    }
    keys.resize(200);
    return keys;
  };
  std::set<std::vector<std::uint64_t>> seen;
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    const InputFlags flags{.records = 1'000, .seed = seed};
    const InputSides sides = MakeSides(flags, kSidesWindowMs);
    EXPECT_EQ(keys_of(sides.left), keys_of(MakeSides(flags, kSidesWindowMs).left));
    EXPECT_EQ(keys_of(sides.right), keys_of(MakeSides(flags, kSidesWindowMs).right));
    seen.insert(keys_of(sides.left));
    seen.insert(keys_of(sides.right));
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(InputSidesTest, EachSideNeedsARecord) {
  EXPECT_TRUE(CheckSides({.records = 5}).ok());
  const absl::Status status = CheckSides({.records = 4});
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(status.ToString(), HasSubstr("--records=4: at least 5 are needed"));
}

}  // namespace
}  // namespace glaive::queries

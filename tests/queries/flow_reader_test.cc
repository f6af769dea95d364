#include "queries/common/flow_reader.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queries/tick.h"

namespace glaive::queries {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kNever = FlowReader<Tick>::kNever;

struct Flow {
  std::vector<std::uint64_t> keys;
  std::vector<std::int64_t> times_ms;
  std::vector<std::int64_t> watermarks_ms;  // before each record
};

Flow ReadAll(const CheckedInput<Tick>& input, std::uint32_t executor = 0) {
  Flow flow;
  FlowReader<Tick> reader(input, executor);
  for (; !reader.done(); reader.Advance()) {
    flow.keys.push_back(reader.record().key);
    flow.times_ms.push_back(reader.event_time_ms());
    flow.watermarks_ms.push_back(reader.watermark_ms());
  }
  EXPECT_EQ(reader.watermark_ms(), std::numeric_limits<std::int64_t>::max()) << "at the end nothing is waited for";
  return flow;
}

CheckedInput<Tick> InputOf(const Generator<Tick>& generator, std::vector<std::uint64_t> record_counts) {
  return {.generator = &generator, .event_time_ms = TickTime, .record_counts = std::move(record_counts)};
}

TEST(FlowReaderTest, TheWatermarkIsTheLatestTimeSoFar) {
  const ListedTicks ticks({5, 3, 9, 9, 7, 12});
  const Flow flow = ReadAll(InputOf(ticks, {6}));
  EXPECT_THAT(flow.keys, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(flow.times_ms, ElementsAre(5, 3, 9, 9, 7, 12));
  EXPECT_THAT(flow.watermarks_ms, ElementsAre(kNever, 5, 5, 9, 9, 9));
}

TEST(FlowReaderTest, TheWatermarkStandsStillBetweenMultiples) {
  const ListedTicks ticks({5, 30, 9, 4, 70, 12, 6, 80});
  CheckedInput<Tick> input = InputOf(ticks, {8});
  input.watermark_every = 3;
  EXPECT_THAT(ReadAll(input).watermarks_ms, ElementsAre(kNever, kNever, kNever, 30, 30, 30, 70, 70));
  input.watermark_every = 100;
  EXPECT_THAT(ReadAll(input).watermarks_ms, testing::Each(kNever));
}

TEST(FlowReaderTest, TheAllowedLatenessHoldsTheWatermarkBack) {
  const ListedTicks ticks({5, 30, 9, 40});
  CheckedInput<Tick> input = InputOf(ticks, {4});
  input.allowed_lateness_ms = 100;
  EXPECT_THAT(ReadAll(input).watermarks_ms, ElementsAre(kNever, -95, -70, -70));
}

TEST(FlowReaderTest, ARepetitionMovesTimeOnAndKeepsTheLatestAndTheCount) {
  const ListedTicks ticks({10, 14, 12});
  CheckedInput<Tick> input = InputOf(ticks, {8});
  input.block_records = 3;
  input.block_span_ms = 100;
  input.watermark_every = 2;
  const Flow flow = ReadAll(input);
  EXPECT_THAT(flow.keys, ElementsAre(0, 1, 2, 0, 1, 2, 0, 1));
  EXPECT_THAT(flow.times_ms, ElementsAre(10, 14, 12, 110, 114, 112, 210, 214));
  EXPECT_THAT(flow.watermarks_ms, ElementsAre(kNever, kNever, 14, 14, 110, 110, 114, 114));
}

TEST(FlowReaderTest, EveryExecutorReadsAsManyAsItDid) {
  const ListedTicks ticks({1, 2, 3});
  const CheckedInput<Tick> input = InputOf(ticks, {0, 3, 1});
  EXPECT_THAT(ReadAll(input, 0).keys, ElementsAre());
  EXPECT_THAT(ReadAll(input, 1).keys, ElementsAre(0, 1, 2));
  EXPECT_THAT(ReadAll(input, 2).keys, ElementsAre(0));
}

TEST(FlowReaderTest, LongInputsAndBlocksComeWithoutAGapOrASeam) {
  const TickGenerator ticks({.keys = {.count = 1ULL << 40}, .timeline = {.rate = {.records = 10, .span_ms = 7}}});
  for (const std::uint64_t block_records : {0U, 1U, 511U, 512U, 513U, 1'700U, 5'000U}) {
    CheckedInput<Tick> input = InputOf(ticks, {0, 5'000});
    input.block_records = block_records;
    input.block_span_ms = 7'000;
    const Flow flow = ReadAll(input, 1);
    ASSERT_EQ(flow.keys.size(), 5'000U);
    for (std::uint64_t number = 0; number < flow.keys.size(); ++number) {
      const std::uint64_t block = block_records == 0 ? 5'000 : block_records;
      Tick tick;
      ticks.Fill(1, number % block, std::span(&tick, 1));
      ASSERT_EQ(flow.keys[number], tick.key) << "record " << number << " in blocks of " << block_records;
      ASSERT_EQ(flow.times_ms[number], tick.time_ms + static_cast<std::int64_t>(number / block) * 7'000);
    }
  }
}

}  // namespace
}  // namespace glaive::queries

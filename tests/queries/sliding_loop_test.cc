// The hand-written loop over sliding windows emits what the oracle does.
#include "queries/cm/sliding_loop.h"

#include <cstdint>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/cm/accounts.h"
#include "queries/cm/generator.h"
#include "queries/common/oracle.h"
#include "queries/loops/loop_totals.h"
#include "tests/queries/checked_block.h"

namespace glaive::queries::cm {
namespace {

constexpr std::int64_t kBlockSpanMs = 120'000;

struct SlidingCase {
  std::uint64_t records;  // in the span
  std::int64_t window_ms;
  std::int64_t slide_ms;
  std::uint64_t repetitions;
};

class SlidingLoopTest : public testing::TestWithParam<SlidingCase> {};

// With 5 records, 24 s lie between two of them: windows in between are empty.
INSTANTIATE_TEST_SUITE_P(Cases, SlidingLoopTest,
                         testing::Values(SlidingCase{1, 60'000, 1'000, 1}, SlidingCase{5, 10'000, 1'000, 3},
                                         SlidingCase{300, 10'000, 5'000, 2}, SlidingCase{20'000, 60'000, 1'000, 2},
                                         SlidingCase{20'000, 2'000, 100, 1}, SlidingCase{20'000, 1'000, 1'000, 2}));

TEST_P(SlidingLoopTest, EmitsWhatTheOracleExpects) {
  const SlidingCase& c = GetParam();
  InputOptions input{.keys = {.count = 10}};
  input.timeline = {.rate = {.records = c.records, .span_ms = kBlockSpanMs}, .align_ms = kBlockSpanMs};
  const TaskEventGenerator generator(input);
  std::vector<TaskEvent> block(c.records);
  generator.Fill(0, 0, block);
  SlidingLoop loop({.window_ms = c.window_ms, .slide_ms = c.slide_ms});

  LoopRepetition repetition{.repetitions = c.repetitions, .span_ms = kBlockSpanMs};
  const Oracle<TaskEvent> oracle("cm1", CheckedBlock<TaskEvent>(generator, TaskEventTime{}, c.records, repetition),
                                 {.size_ms = c.window_ms, .slide_ms = c.slide_ms});
  const Totals expected =
      oracle
          .Check<CpuSum>(
              [](const TaskEvent& event) { return std::optional(static_cast<std::uint64_t>(event.category)); }, {})
          .expected;
  EXPECT_GE(expected.rows, static_cast<std::uint64_t>(c.window_ms / c.slide_ms));
  EXPECT_EQ(LoopTotals(loop, block, repetition), expected);
  repetition.batch_records = 7;
  EXPECT_EQ(LoopTotals(loop, block, repetition), expected) << "a second run starts empty";
}

TEST(SlidingLoopEmptyTest, AnEmptyBlockEmitsNothing) {
  SlidingLoop loop({.window_ms = 60'000, .slide_ms = 1'000});
  EXPECT_EQ(LoopTotals(loop, {}, {.repetitions = 5, .span_ms = kBlockSpanMs}), Totals{});
}

TEST(SlidingLoopDeathTest, AWindowOfNoWholeNumberOfSlidesEndsTheProcess) {
  EXPECT_DEATH(SlidingLoop({.window_ms = 1'500, .slide_ms = 1'000}), "no multiple of 1000");
}

}  // namespace
}  // namespace glaive::queries::cm

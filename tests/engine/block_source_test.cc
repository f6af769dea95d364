#include "engine/source/block_source.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::engine {
namespace {

struct Tick {
  std::int64_t time_ms;
  std::uint64_t number;
};
struct TickTime {
  std::int64_t operator()(const Tick& tick) const { return tick.time_ms; }
};

class ManualClock final : public Clock {
 public:
  std::int64_t NowNanos() const override { return now_ns; }
  std::int64_t now_ns = 0;
};

class BlockSourceTest : public ::testing::Test {
 protected:
  std::unique_ptr<Source<Tick>> Make(const BlockSourceOptions& options) {
    const auto generate = [](std::uint64_t first, std::span<Tick> ticks) {
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        ticks[i] = {.time_ms = static_cast<std::int64_t>(first + i), .number = first + i};
      }
    };
    auto source = BlockSource<Tick, TickTime>::Create(options, clock_, generate, TickTime{});
    EXPECT_TRUE(source.ok()) << source.status();
    return *std::move(source);
  }

  ManualClock clock_;
};

TEST_F(BlockSourceTest, ReadsItsBlockOnceInOrderAndThenEnds) {
  const auto source = Make({.block_records = 10'000, .total_records = 10'000, .span_ms = 10'000});
  std::uint64_t next = 0;
  SourceBatch<Tick> batch;
  do {
    batch = source->Poll();
    for (const Tick& tick : batch.records) {
      ASSERT_EQ(tick.number, next++);
    }
    ASSERT_EQ(batch.watermark_ms, static_cast<std::int64_t>(next) - 1) << "the last record's event time";
  } while (!batch.ended);
  EXPECT_EQ(next, 10'000U);
}

TEST_F(BlockSourceTest, ItsGenerationCanBeEndedBetweenPieces) {
  std::uint64_t generated = 0;
  const auto generate = [&](std::uint64_t first, std::span<Tick> ticks) {
    EXPECT_EQ(first, generated);
    generated += ticks.size();
  };
  int asked = 0;
  const Watch watch = [&] { return ++asked < 3 ? absl::OkStatus() : absl::CancelledError("enough"); };
  const BlockSourceOptions options{.block_records = 1'000'000, .total_records = 1'000'000};
  const auto source = BlockSource<Tick, TickTime>::Create(options, clock_, generate, TickTime{}, watch);
  EXPECT_EQ(source.status(), absl::CancelledError("enough"));
  EXPECT_GT(generated, 0U);
  EXPECT_LT(generated, 200'000U) << "a piece is some milliseconds' work";
}

TEST_F(BlockSourceTest, PiecesThatAreInOrderByThemselvesAreNotInOrderTogether) {
  for (const bool falls : {false, true}) {
    const auto generate = [&](std::uint64_t first, std::span<Tick> ticks) {
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        const auto number = static_cast<std::int64_t>(first + i);
        ticks[i] = {.time_ms = falls && first > 0 ? number - 2 : number, .number = first + i};
      }
    };
    const BlockSourceOptions options{.block_records = 100'000, .total_records = 100'000};
    const auto source = BlockSource<Tick, TickTime>::Create(options, clock_, generate, TickTime{});
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ((*source)->Poll().in_order, !falls);
  }
}

TEST_F(BlockSourceTest, EndsWithAnErrorBeforeEventTimesAreBeyond64Bits) {
  constexpr std::int64_t kSpanMs = std::int64_t{1} << 60;  // 7 of them fit, behind that of 0
  const auto source = Make({.block_records = 10, .total_records = 1'000, .span_ms = kSpanMs});
  SourceBatch<Tick> batch;
  std::int64_t latest_ms = 0;
  std::uint64_t read = 0;
  do {
    batch = source->Poll();
    read += batch.records.size();
    ASSERT_GE(batch.watermark_ms, latest_ms) << "an event time has overflowed";
    latest_ms = batch.watermark_ms;
  } while (!batch.ended);
  EXPECT_EQ(read, 80U);
  EXPECT_LT(latest_ms, kMaxEventTimeMs);
  EXPECT_EQ(source->status().code(), absl::StatusCode::kOutOfRange) << source->status();
}

TEST_F(BlockSourceTest, ABatchHasAtMostAsManyRecordsAsItIsTold) {
  const auto source =
      Make({.block_records = 5, .total_records = 8, .span_ms = 5, .records_per_second = 0, .batch_records = 2});
  std::vector<std::size_t> sizes;
  SourceBatch<Tick> batch;
  do {
    batch = source->Poll();
    sizes.push_back(batch.records.size());
  } while (!batch.ended);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 2, 1, 2, 1})) << "none goes beyond the block's end";
}

TEST_F(BlockSourceTest, ABatchSaysWhereTheNextOneLies) {
  const auto source =
      Make({.block_records = 5, .total_records = 12, .span_ms = 5, .records_per_second = 0, .batch_records = 2});
  SourceBatch<Tick> batch = source->Poll();
  while (!batch.ended) {
    const std::span<const Tick> upcoming = batch.upcoming;
    batch = source->Poll();
    EXPECT_EQ(upcoming.data(), batch.records.data());
    EXPECT_EQ(upcoming.size(), batch.records.size());
  }
}

TEST_F(BlockSourceTest, ARepetitionMovesEventTimeOnByTheSpanWithoutASeam) {
  const auto source = Make({.block_records = 3, .total_records = 8, .span_ms = 5});
  std::vector<std::int64_t> times;
  SourceBatch<Tick> batch;
  do {
    batch = source->Poll();
    for (const Tick& tick : batch.records) {
      times.push_back(tick.time_ms + batch.event_time_shift_ms);
    }
    ASSERT_EQ(batch.watermark_ms, times.back());
  } while (!batch.ended);
  EXPECT_EQ(times, (std::vector<std::int64_t>{0, 1, 2, 5, 6, 7, 10, 11}));
}

TEST_F(BlockSourceTest, APaceLetsThroughWhatIsDueAndSaysWhenThereIsMore) {
  const auto source = Make({.block_records = 100, .total_records = 100, .span_ms = 100, .records_per_second = 1000});
  EXPECT_TRUE(source->Poll().records.empty());
  EXPECT_FALSE(source->Ready());
  clock_.now_ns = 5'000'000;
  EXPECT_TRUE(source->Ready());
  EXPECT_EQ(source->Poll().records.size(), 5U);
  EXPECT_TRUE(source->Poll().records.empty());
  clock_.now_ns = 200'000'000;
  SourceBatch<Tick> batch = source->Poll();
  EXPECT_EQ(batch.records.size(), 95U);
  EXPECT_TRUE(batch.ended);
}

TEST_F(BlockSourceTest, ADeadlineEndsTheStreamInTheMiddleOfABlock) {
  const auto source = Make({.block_records = 100'000, .duration_ns = 1'000, .span_ms = 100'000});
  EXPECT_FALSE(source->Poll().ended);
  clock_.now_ns = 1'000;
  const SourceBatch<Tick> batch = source->Poll();
  EXPECT_TRUE(batch.ended);
  EXPECT_TRUE(batch.records.empty());
}

TEST_F(BlockSourceTest, AfterSoManyRecordsItIsSilentForSoLongAndThenEnds) {
  const auto source = Make({.block_records = 10,
                            .total_records = 100,
                            .span_ms = 10,
                            .batch_records = 4,
                            .silent_after_records = 7,
                            .silent_ns = 1'000});
  EXPECT_EQ(source->Poll().records.size(), 4U);
  EXPECT_EQ(source->Poll().records.size(), 3U);
  for (clock_.now_ns = 500; clock_.now_ns < 1'500; clock_.now_ns += 100) {
    EXPECT_FALSE(source->Ready());
    const SourceBatch<Tick> batch = source->Poll();
    EXPECT_TRUE(batch.records.empty());
    EXPECT_FALSE(batch.ended);
    EXPECT_EQ(batch.watermark_ms, 6);
  }
  EXPECT_TRUE(source->Ready());
  const SourceBatch<Tick> batch = source->Poll();
  EXPECT_TRUE(batch.records.empty());
  EXPECT_TRUE(batch.ended);
}

/// What Poll said, batch by batch, until the stream ended.
struct Read {
  std::vector<std::size_t> sizes;
  std::vector<std::int64_t> watermarks_ms;
};

Read ReadAll(Source<Tick>& source) {
  Read read;
  for (bool ended = false; !ended;) {
    const SourceBatch<Tick> batch = source.Poll();
    read.sizes.push_back(batch.records.size());
    read.watermarks_ms.push_back(batch.watermark_ms);
    ended = batch.ended;
  }
  return read;
}

// Event times out of order, in a block that repeats.
class DisorderedBlockTest : public BlockSourceTest {
 protected:
  std::unique_ptr<Source<Tick>> MakeDisordered(BlockSourceOptions options) {
    options.block_records = kTimesMs.size();
    options.span_ms = 100;
    const auto generate = [](std::uint64_t first, std::span<Tick> ticks) {
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        ticks[i] = {.time_ms = kTimesMs.at(first + i), .number = first + i};
      }
    };
    auto source = BlockSource<Tick, TickTime>::Create(options, clock_, generate, TickTime{});
    EXPECT_TRUE(source.ok()) << source.status();
    return *std::move(source);
  }

  static constexpr std::array<std::int64_t, 7> kTimesMs = {10, 40, 20, 30, 35, 50, 45};
};

TEST_F(DisorderedBlockTest, TheWatermarkIsTheLatestTimeSoFarAndMovesOnAtMultiplesOnly) {
  const Read read = ReadAll(*MakeDisordered({.total_records = 11, .watermark_every = 3}));
  // Cut at multiples of 3, and where the block repeats.
  EXPECT_EQ(read.sizes, (std::vector<std::size_t>{3, 3, 1, 2, 2}));
  EXPECT_EQ(read.watermarks_ms, (std::vector<std::int64_t>{40, 50, 50, 140, 140}));
}

TEST_F(DisorderedBlockTest, SmallerBatchesSayTheOldWatermarkUntilTheNextMultiple) {
  const Read read = ReadAll(*MakeDisordered({.total_records = 10, .batch_records = 2, .watermark_every = 5}));
  EXPECT_EQ(read.sizes, (std::vector<std::size_t>{2, 2, 1, 2, 2, 1}));
  EXPECT_EQ(read.watermarks_ms, (std::vector<std::int64_t>{kMinEventTimeMs, kMinEventTimeMs, 40, 40, 40, 140}));
}

TEST_F(DisorderedBlockTest, AfterEveryRecordTheWatermarkIsTheLatestTimeSoFar) {
  const Read read = ReadAll(*MakeDisordered({.total_records = 9, .watermark_every = 1}));
  EXPECT_EQ(read.sizes, std::vector<std::size_t>(9, 1));
  EXPECT_EQ(read.watermarks_ms, (std::vector<std::int64_t>{10, 40, 40, 40, 40, 50, 50, 110, 140}));
}

TEST_F(DisorderedBlockTest, WhenRecordsWereReadDoesNotMatterToTheWatermarkThatHeldBeforeThem) {
  const auto before_each_record = [&](double records_per_second, std::int64_t step_ns) {
    clock_.now_ns = 0;
    const auto source =
        MakeDisordered({.total_records = 20, .records_per_second = records_per_second, .watermark_every = 3});
    std::vector<std::int64_t> watermarks_ms;
    std::int64_t watermark_ms = kMinEventTimeMs;
    for (bool ended = false; !ended; clock_.now_ns += step_ns) {
      const SourceBatch<Tick> batch = source->Poll();
      watermarks_ms.insert(watermarks_ms.end(), batch.records.size(), watermark_ms);
      const std::size_t read = watermarks_ms.size();
      EXPECT_TRUE(batch.watermark_ms == watermark_ms || (read % 3 == 0 && !batch.records.empty()))
          << "moved on after " << read << " records";
      EXPECT_GE(batch.watermark_ms, watermark_ms);
      EXPECT_TRUE(batch.records.empty() || (read - batch.records.size()) / 3 == (read - 1) / 3)
          << "a batch of " << batch.records.size() << " straddles a multiple before record " << read;
      watermark_ms = batch.watermark_ms;
      ended = batch.ended;
    }
    return watermarks_ms;
  };
  const std::vector<std::int64_t> unpaced = before_each_record(0, 0);
  EXPECT_EQ(unpaced.size(), 20U);
  for (const std::int64_t step_ns : {300'000, 1'000'000, 1'700'000, 4'000'000, 50'000'000}) {
    EXPECT_EQ(before_each_record(1'000, step_ns), unpaced) << "polled every " << step_ns << " ns";
  }
}

TEST_F(DisorderedBlockTest, WithoutMultiplesABatchsLastRecordIsItsWatermark) {
  const Read read = ReadAll(*MakeDisordered({.total_records = 7, .batch_records = 3, .watermark_every = 0}));
  EXPECT_EQ(read.sizes, (std::vector<std::size_t>{3, 3, 1}));
  EXPECT_EQ(read.watermarks_ms, (std::vector<std::int64_t>{20, 50, 45}));
}

TEST_F(BlockSourceTest, BatchesAreInOrderIfTheWholeBlockIs) {
  for (const std::uint64_t watermark_every : {0U, 3U}) {
    const auto source =
        Make({.block_records = 5, .total_records = 12, .span_ms = 5, .watermark_every = watermark_every});
    SourceBatch<Tick> batch;
    do {
      batch = source->Poll();
      EXPECT_TRUE(batch.in_order);
    } while (!batch.ended);
  }
}

TEST_F(DisorderedBlockTest, NoBatchIsInOrder) {
  for (const std::uint64_t watermark_every : {0U, 1U}) {
    const auto source = MakeDisordered({.total_records = 9, .watermark_every = watermark_every});
    SourceBatch<Tick> batch;
    do {
      batch = source->Poll();
      EXPECT_FALSE(batch.in_order);
    } while (!batch.ended);
  }
}

TEST_F(BlockSourceTest, ABlockThatNoMachineHoldsIsAnErrorThatSaysHowMuchWasWanted) {
  const auto source = BlockSource<Tick, TickTime>::Create(
      {.block_records = std::uint64_t{1} << 55}, clock_, [](auto, auto) {}, TickTime{});
  EXPECT_FALSE(source.ok());
}

}  // namespace
}  // namespace glaive::engine

// Windows by the time when records are read, with a clock moved by hand, against a loop over what was read when.

#include "engine/source/processing_time.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "engine/api/join.h"
#include "engine/api/together.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

constexpr std::int64_t kStartMs = 1'600'000'000'123;

class ManualWallClock final : public Clock {
 public:
  std::int64_t NowNanos() const override { return now_ms_ * 1'000'000; }
  std::int64_t WallMillis() const override { return kStartMs + now_ms_; }
  void Advance(std::int64_t ms) { now_ms_ += ms; }

 private:
  std::int64_t now_ms_ = 0;
};

/// One batch: how many records, and when.
struct BatchRead {
  std::int64_t time_ms;
  std::vector<std::uint64_t> keys;
};

// Reads a workload's records a few at a time, and pauses between batches. The clock moves on whenever it is asked
// something.
class PacedSource final : public Source<TestRecord> {
 public:
  PacedSource(const Workload& workload, std::uint32_t executor, ManualWallClock& clock, std::vector<BatchRead>& log)
      : clock_(&clock), log_(&log) {
    for (std::uint64_t number = 0; number < workload.records; ++number) {
      records_.push_back(MakeRecord(workload, executor, number));
    }
  }

  SourceBatch<TestRecord> Poll() override {
    clock_->Advance(1);
    if (pause_ > 0) {
      return {};
    }
    const std::uint64_t draw = records_[position_].key;
    const std::size_t count = std::min<std::size_t>(1 + draw % 20, records_.size() - position_);
    const std::span<const TestRecord> batch = std::span<const TestRecord>(records_).subspan(position_, count);
    position_ += count;
    pause_ = draw % 100;
    BatchRead read{.time_ms = clock_->WallMillis(), .keys = {}};
    for (const TestRecord& record : batch) {
      read.keys.push_back(record.key);
    }
    log_->push_back(read);
    return {.records = batch,
            .event_time_shift_ms = 12'345,  // not read
            .watermark_ms = kMaxEventTimeMs - 1,
            .ended = position_ == records_.size()};
  }

  bool Ready() override {
    clock_->Advance(1);
    pause_ -= pause_ > 0 ? 1 : 0;
    return pause_ == 0;
  }

 private:
  ManualWallClock* clock_;
  std::vector<BatchRead>* log_;
  std::vector<TestRecord> records_;
  std::size_t position_ = 0;
  std::uint64_t pause_ = 0;
};

TEST(ProcessingTime, ARecordCountsInTheWindowInWhichItsBatchWasRead) {
  for (std::uint32_t executors = 1; executors <= 3; ++executors) {
    for (std::uint64_t order_seed = 1; order_seed <= kOrders; ++order_seed) {
      SCOPED_TRACE(absl::StrCat(executors, " executors, order ", order_seed));
      ManualWallClock clock;
      std::vector<BatchRead> log;
      Workload workload{.executors = executors, .records = 1'000, .max_lead_ms = 1LL << 60, .clock = &clock};
      const auto open = [&](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<TestRecord>>> {
        return std::make_unique<PacedSource>(workload, Value(context.executor), clock, log);
      };
      std::vector<std::vector<TestRow>> rows(executors);
      const SourceSpec<TestRecord, decltype(kTestEventTime)> source{.open = open, .event_time_ms = kTestEventTime};
      const std::unique_ptr<Query> query = From(ProcessingTime(source))
                                               .KeyBy(&TestRecord::key)
                                               .Window(Tumbling{absl::Milliseconds(500)})
                                               .Aggregate(Count{})
                                               .To(Collect(rows));
      ClusterOutcome outcome;
      outcome.status = RunExecutors(workload, *query, order_seed, outcome.metrics);
      CollectOutcome(rows, outcome);
      ASSERT_TRUE(outcome.status.ok()) << outcome.status;
      TestCounts expected;
      for (const BatchRead& read : log) {
        for (const std::uint64_t key : read.keys) {
          ++expected[{read.time_ms / 500 * 500, key}];
        }
      }
      EXPECT_EQ(outcome.rows, outcome.counts.size());
      EXPECT_TRUE(SameElements(outcome.counts, expected));
      EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
      EXPECT_GT(Total(outcome, &ExecutorMetrics::windows_fired_early), 5U);
    }
  }
}

// One record, and then silence until its window has fired.
class OneRecordSource final : public Source<TestRecord> {
 public:
  OneRecordSource(ManualWallClock& clock, const std::vector<TestRow>& rows) : clock_(&clock), rows_(&rows) {}

  SourceBatch<TestRecord> Poll() override {
    const bool first = !std::exchange(read_, true);
    return {.records = std::span(&record_, first ? 1 : 0), .ended = Over()};
  }
  bool Ready() override {
    clock_->Advance(1);
    ++asked_;
    return Over();
  }

 private:
  bool Over() const { return !rows_->empty() || asked_ >= 100'000; }

  ManualWallClock* clock_;
  const std::vector<TestRow>* rows_;
  TestRecord record_{.key = 7, .event_time_ms = 0, .kind = 0};
  bool read_ = false;
  int asked_ = 0;
};

TEST(ProcessingTime, WindowsCloseOnASilentStream) {
  ManualWallClock clock;
  std::vector<std::vector<TestRow>> rows(1);
  const auto open = [&](const SourceContext&) -> absl::StatusOr<std::unique_ptr<Source<TestRecord>>> {
    return std::make_unique<OneRecordSource>(clock, rows[0]);
  };
  const SourceSpec<TestRecord, decltype(kTestEventTime)> source{.open = open, .event_time_ms = kTestEventTime};
  const std::unique_ptr<Query> query = From(ProcessingTime(source))
                                           .KeyBy(&TestRecord::key)
                                           .Window(Session{absl::Seconds(2)})
                                           .Aggregate(Count{})
                                           .To(Collect(rows));
  const Workload workload{.clock = &clock};
  std::vector<ExecutorMetrics> metrics;
  ASSERT_EQ(RunExecutors(workload, *query, 1, metrics), absl::OkStatus());
  ASSERT_EQ(rows[0].size(), 1U);
  EXPECT_EQ(rows[0][0].window_start_ms, kStartMs + 1) << "each question whether the source is ready takes 1 ms";
  EXPECT_EQ(rows[0][0].window_end_ms, kStartMs + 2'001);
  EXPECT_EQ(metrics[0].windows_fired_early, 1U) << "the window waited for the end of the stream";
}

/// A record, and when it was taken in.
struct TakenIn {
  std::uint64_t key;
  std::int64_t time_ms;
};

/// Notes when records are taken in: the clock moves on between two batches alone.
auto NotesTime(const ManualWallClock& clock, std::vector<TakenIn>& taken) {
  return [&clock, &taken](const TestRecord& record) { taken.push_back({record.key, clock.WallMillis()}); };
}

/// Runs what `make(source, note)` makes of a paced source and of what notes the time of records in front of its window
/// of 500 ms by key. Each record is in the window in which it was taken in there.
template <typename MakeFn>
void ExpectTimesOfTaking(const MakeFn& make) {
  for (std::uint32_t executors = 1; executors <= 3; ++executors) {
    for (std::uint64_t order_seed = 1; order_seed <= kOrders; ++order_seed) {
      SCOPED_TRACE(absl::StrCat(executors, " executors, order ", order_seed));
      ManualWallClock clock;
      std::vector<BatchRead> log;
      std::vector<TakenIn> taken;
      const Workload workload{.executors = executors, .records = 1'000, .max_lead_ms = 1LL << 60, .clock = &clock};
      const auto open = [&](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<TestRecord>>> {
        return std::make_unique<PacedSource>(workload, Value(context.executor), clock, log);
      };
      std::vector<std::vector<TestRow>> rows(executors);
      const SourceSpec<TestRecord, decltype(kTestEventTime)> source{.open = open, .event_time_ms = kTestEventTime};
      ClusterOutcome outcome;
      const std::unique_ptr<Query> query = make(From(source), NotesTime(clock, taken)).To(Collect(rows));
      outcome.status = RunExecutors(workload, *query, order_seed, outcome.metrics);
      CollectOutcome(rows, outcome);
      ASSERT_TRUE(outcome.status.ok()) << outcome.status;
      TestCounts expected;
      for (const TakenIn& each : taken) ++expected[{each.time_ms / 500 * 500, each.key}];
      EXPECT_EQ(taken.size(), executors * workload.records);
      EXPECT_EQ(outcome.rows, outcome.counts.size());
      EXPECT_TRUE(SameElements(outcome.counts, expected));
      EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
      EXPECT_GT(Total(outcome, &ExecutorMetrics::windows_fired_early), 5U);
    }
  }
}

TEST(ProcessingTime, AWindowByItBehindASourceReadsTheClock) {
  ExpectTimesOfTaking([](auto records, auto note) {
    return std::move(records)
        .Inspect(note)
        .KeyBy(&TestRecord::key)
        .Window(ProcessingTime(Tumbling{absl::Milliseconds(500)}))
        .Aggregate(Count{});
  });
}

TEST(ProcessingTime, AWindowByItBehindAnExchangeReadsTheClockThere) {
  ExpectTimesOfTaking([](auto records, auto note) {
    return std::move(records)
        .KeyBy(&TestRecord::key)
        .Partition()
        .DropKey()
        .Inspect(note)
        .WithProcessingTime()
        .KeyBy(&TestRecord::key)
        .Window(Tumbling{absl::Milliseconds(500)})
        .Aggregate(Count{});
  });
}

TEST(ProcessingTime, AFunctionIsToldTheTimeOfTaking) {
  ExpectTimesOfTaking([](auto records, auto note) {
    return std::move(records)
        .Inspect(note)
        .WithProcessingTime()
        .MapWithTime([](TestRecord record, std::int64_t time_ms) {
          record.event_time_ms = time_ms;
          return record;
        })
        .WithEventTime(&TestRecord::event_time_ms)
        .KeyBy(&TestRecord::key)
        .Window(Tumbling{absl::Milliseconds(500)})
        .Aggregate(Count{});
  });
}

TEST(ProcessingTime, AFunctionIsToldTheEventTimesOfRecordsAndOfRows) {
  const Workload workload{.records = 1'000};
  std::vector<std::vector<TestRow>> rows(1);
  const std::unique_ptr<Query> query = From(TestSource(workload))
                                           .MapWithTime([](TestRecord record, std::int64_t time_ms) {
                                             record.key = record.event_time_ms == time_ms ? 1 : 2;
                                             return record;
                                           })
                                           .KeyBy(&TestRecord::key)
                                           .Window(Tumbling{absl::Seconds(1)})
                                           .Aggregate(Count{})
                                           .MapWithTime([](TestRow row, std::int64_t time_ms) {
                                             row.value = static_cast<std::uint64_t>(row.window_end_ms - time_ms);
                                             return row;
                                           })
                                           .To(Collect(rows));
  std::vector<ExecutorMetrics> metrics;
  ASSERT_EQ(RunExecutors(workload, *query, 1, metrics), absl::OkStatus());
  ASSERT_GT(rows[0].size(), 5U);
  for (const TestRow& row : rows[0]) {
    EXPECT_EQ(row.key, 1U) << "a record has another time";
    EXPECT_EQ(row.value, 1U) << "a row's time is the last millisecond of its window";
  }
}

/// Behind a step with a state, and a window by the order of records in front of the one by the clock.
TEST(ProcessingTime, AWindowByItBehindWindowsByOrderReadsTheClockThere) {
  ExpectTimesOfTaking([](auto records, auto note) {
    return std::move(records)
        .KeyBy(&TestRecord::key)
        .Window(CountWindow{.size = 1})
        .Process([](std::uint64_t, NumberedWindow, std::span<const TestRecord> all) { return all.front(); })
        .Map([](const auto& row) { return row.value; })
        .Inspect(note)
        .KeyBy(&TestRecord::key)
        .Window(ProcessingTime(Tumbling{absl::Milliseconds(500)}))
        .Aggregate(Count{});
  });
}

/// Both streams of a join are by the clock where they reach it.
TEST(ProcessingTime, AJoinByItReadsTheClockForBothStreams) {
  using Row = WindowResult<std::uint64_t, std::tuple<std::int64_t, std::int64_t>>;
  for (std::uint32_t executors = 1; executors <= 3; ++executors) {
    for (std::uint64_t order_seed = 1; order_seed <= kOrders; ++order_seed) {
      SCOPED_TRACE(absl::StrCat(executors, " executors, order ", order_seed));
      ManualWallClock clock;
      std::vector<BatchRead> log;
      std::array<std::vector<TakenIn>, 2> taken;
      const Workload workload{.executors = executors, .records = 300, .max_lead_ms = 1LL << 60, .clock = &clock};
      const auto records = [&](std::uint64_t seed) {
        const auto open = [&,
                           seed](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<TestRecord>>> {
          Workload seeded = workload;
          seeded.seed = seed;
          return std::make_unique<PacedSource>(seeded, Value(context.executor), clock, log);
        };
        return From(SourceSpec<TestRecord, decltype(kTestEventTime)>{.open = open, .event_time_ms = kTestEventTime});
      };
      std::vector<std::vector<Row>> rows(executors);
      const std::unique_ptr<Query> query =
          Join(records(1).Inspect(NotesTime(clock, taken[0])), records(2).Inspect(NotesTime(clock, taken[1])))
              .On(&TestRecord::key, &TestRecord::key)
              .Window(ProcessingTime(Tumbling{absl::Milliseconds(500)}))
              .Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms)
              .To(Collect(rows));
      std::vector<ExecutorMetrics> metrics;
      ASSERT_EQ(RunExecutors(workload, *query, order_seed, metrics), absl::OkStatus());
      std::array<TestCounts, 2> counts;
      for (std::size_t side = 0; side < 2; ++side) {
        EXPECT_EQ(taken[side].size(), executors * workload.records);
        for (const TakenIn& each : taken[side]) ++counts[side][{each.time_ms / 500 * 500, each.key}];
      }
      TestCounts expected;
      for (const auto& [window, count] : counts[0]) {
        if (const auto others = counts[1].find(window); others != counts[1].end()) {
          expected[window] = count * others->second;
        }
      }
      TestCounts found;
      for (const auto& of_executor : rows) {
        for (const Row& row : of_executor) ++found[{row.window_start_ms, row.key}];
      }
      EXPECT_GT(expected.size(), 20U) << "or this tests little";
      EXPECT_TRUE(SameElements(found, expected));
    }
  }
}

/// Time goes on behind an operator, though nothing comes.
TEST(ProcessingTime, WindowsBehindAnExchangeCloseOnASilentStream) {
  ManualWallClock clock;
  std::vector<std::vector<TestRow>> rows(1);
  const auto open = [&](const SourceContext&) -> absl::StatusOr<std::unique_ptr<Source<TestRecord>>> {
    return std::make_unique<OneRecordSource>(clock, rows[0]);
  };
  const SourceSpec<TestRecord, decltype(kTestEventTime)> source{.open = open, .event_time_ms = kTestEventTime};
  const std::unique_ptr<Query> query = From(source)
                                           .KeyBy(&TestRecord::key)
                                           .RichMap(0, [](int&, const TestRecord& record) { return record; })
                                           .KeyBy(&TestRecord::key)
                                           .Window(ProcessingTime(Session{absl::Seconds(2)}))
                                           .Aggregate(Count{})
                                           .To(Collect(rows));
  const Workload workload{.clock = &clock};
  std::vector<ExecutorMetrics> metrics;
  ASSERT_EQ(RunExecutors(workload, *query, 1, metrics), absl::OkStatus());
  ASSERT_EQ(rows[0].size(), 1U);
  EXPECT_EQ(rows[0][0].window_end_ms - rows[0][0].window_start_ms, 2'000);
  EXPECT_EQ(metrics[0].windows_fired_early, 1U) << "the window waited for the end of the stream";
}

using ProcessingTimes = OnEachShape;
GLAIVE_ON_EACH_SHAPE(ProcessingTimes);

/// By the clocks of all executors, behind a source and behind an exchange.
TEST_P(ProcessingTimes, EachRecordIsInOneWindowWhoeverTakesItIn) {
  std::vector<std::vector<TestRow>> behind_source(executors());
  std::vector<std::vector<TestRow>> behind_exchange(executors());
  const auto records = From(TestSource(workload()));
  const auto counted = [](auto stream) {
    return std::move(stream)
        .KeyBy(&TestRecord::key)
        .Window(ProcessingTime(Tumbling{absl::Milliseconds(5)}))
        .Aggregate(Count{});
  };
  const ClusterOutcome outcome = Run(*Together(counted(records).To(Collect(behind_source)),
                                               counted(Stream(records).Shuffle()).To(Collect(behind_exchange))));
  std::map<std::uint64_t, std::uint64_t> expected;
  ForEachTestRecord([&](const TestRecord& record) { ++expected[record.key]; });
  for (const auto* rows : {&behind_source, &behind_exchange}) {
    std::map<std::uint64_t, std::uint64_t> counts;
    for (const auto& share : *rows) {
      for (const TestRow& row : share) {
        counts[row.key] += row.value;
        EXPECT_GE(row.window_start_ms, kStartMs) << "a time of the wall clock";
      }
    }
    EXPECT_EQ(counts, expected);
  }
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
}

}  // namespace
}  // namespace glaive::engine

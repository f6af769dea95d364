// Flows whose source falls silent in the middle of a run: the windows of the others fire, and what comes late is late.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "engine/api/join.h"
#include "engine/api/stream.h"
#include "engine/sink/sink.h"
#include "engine/source/source.h"
#include "tests/engine/cluster_harness.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

constexpr std::int64_t kFiredMs = 8'000;      // the silent flows come back when windows up to here have fired
constexpr std::uint64_t kBeforeSilence = 50;  // records of a silent flow, all before kLateMs
constexpr std::int64_t kLateMs = 3'000;       // where its late records begin
constexpr std::int64_t kFutureMs = 1LL << 40;
constexpr std::uint64_t kAfterSilence = 40;  // late records, and as many that are in time

// What sources and sinks of a run know of each other.
struct Stage {
  std::vector<std::uint32_t> silent;  // executors
  std::int64_t fired_ms = kFiredMs;
  std::atomic<std::uint32_t> fired{0};  // executors that have rows of windows that end at fired_ms or later
  std::atomic<bool> gave_up{false};
};

bool IsSilent(const Stage& stage, std::uint32_t executor) {
  return std::find(stage.silent.begin(), stage.silent.end(), executor) != stage.silent.end();
}

std::vector<TestRecord> Before(const Workload& workload, std::uint32_t executor, std::uint64_t count) {
  std::vector<TestRecord> records;
  for (std::uint64_t number = 0; number < count; ++number) {
    records.push_back(MakeRecord(workload, executor, number));
  }
  return records;
}

std::vector<TestRecord> After(std::int64_t first_ms) {
  std::vector<TestRecord> records;
  for (std::uint64_t i = 0; i < kAfterSilence; ++i) {
    records.push_back({.key = i, .event_time_ms = first_ms + 100 * static_cast<std::int64_t>(i), .kind = 0});
  }
  return records;
}

// Reads its records, then has nothing but time that passes (or nothing at all, if it is a silent one) until the windows
// have fired, then, if it is a silent one, the records that it kept back.
class PausingSource final : public Source<TestRecord> {
 public:
  PausingSource(const Workload& workload, Stage& stage, std::uint32_t executor)
      : stage_(&stage), executors_(workload.executor_count()), silent_(IsSilent(stage, executor)) {
    batches_.push_back(Before(workload, executor, silent_ ? kBeforeSilence : workload.records));
    if (silent_) {
      batches_.push_back(After(kLateMs));
      batches_.push_back(After(kFutureMs));
    }
  }

  SourceBatch<TestRecord> Poll() override {
    if (next_ == 1 && !Released()) {
      watermark_ms_ += silent_ ? 0 : 1;
      return {.records = {}, .watermark_ms = watermark_ms_, .ended = false};
    }
    if (next_ == batches_.size()) {
      return {.records = {}, .watermark_ms = watermark_ms_, .ended = true};
    }
    const std::vector<TestRecord>& batch = batches_[next_++];
    watermark_ms_ = std::max(watermark_ms_, batch.back().event_time_ms);
    return {.records = batch, .watermark_ms = watermark_ms_, .ended = false};
  }

  bool Ready() override { return !silent_ || next_ != 1 || Released(); }

 private:
  bool Released() {
    if (std::chrono::steady_clock::now() > deadline_) {
      stage_->gave_up = true;
    }
    return stage_->fired == executors_ || stage_->gave_up;
  }

  Stage* stage_;
  std::uint32_t executors_;
  bool silent_;
  std::vector<std::vector<TestRecord>> batches_;
  std::size_t next_ = 0;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + std::chrono::seconds(60);
};

// Keeps the rows, and notes the first one of fired_ms.
class WatchingSink final : public Sink<TestRow> {
 public:
  WatchingSink(Stage& stage, std::vector<TestRow>& rows) : stage_(&stage), rows_(&rows) {}

  absl::Status Write(std::span<const TestRow> rows) override {
    for (const TestRow& row : rows) {
      rows_->push_back(row);
      if (row.window_end_ms >= stage_->fired_ms && !noted_) {
        noted_ = true;
        ++stage_->fired;
      }
    }
    return absl::OkStatus();
  }

 private:
  Stage* stage_;
  std::vector<TestRow>* rows_;
  bool noted_ = false;
};

struct Watching {
  Stage* stage;
  std::vector<std::vector<TestRow>>* rows;

  template <typename Row>
    requires std::same_as<Row, TestRow>
  SinkFactory<Row> Factory() const {
    return [watching = *this](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      return std::make_unique<WatchingSink>(*watching.stage, (*watching.rows)[Value(context.executor)]);
    };
  }
};

auto PausingRecords(const Workload& workload, Stage& stage) {
  const auto open = [workload,
                     &stage](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<TestRecord>>> {
    return std::make_unique<PausingSource>(workload, stage, Value(context.executor));
  };
  return From(SourceSpec<TestRecord, decltype(kTestEventTime)>{.open = open, .event_time_ms = kTestEventTime});
}

std::unique_ptr<Query> CountQuery(const Workload& workload, Stage& stage, std::vector<std::vector<TestRow>>& rows) {
  return PausingRecords(workload, stage)
      .KeyBy(&TestRecord::key)
      .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
      .Aggregate(Count{})
      .To(Watching{&stage, &rows});
}

TestCounts Sequential(const Workload& workload, const Stage& stage) {
  TestCounts counts;
  const auto add = [&](const std::vector<TestRecord>& records) {
    for (const TestRecord& record : records) {
      ++counts[{record.event_time_ms / workload.window_ms * workload.window_ms, record.key}];
    }
  };
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    add(Before(workload, executor, IsSilent(stage, executor) ? kBeforeSilence : workload.records));
    if (IsSilent(stage, executor)) {
      add(After(kFutureMs));
    }
  }
  return counts;
}

class IdleFlows : public ::testing::TestWithParam<std::vector<std::uint32_t>> {
 protected:
  void Expect(const Workload& workload, const Stage& stage, const ClusterOutcome& outcome) {
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_FALSE(stage.gave_up) << "the windows waited for a silent flow";
    EXPECT_EQ(outcome.rows, outcome.counts.size()) << "a row was emitted twice";
    EXPECT_TRUE(SameElements(outcome.counts, Sequential(workload, stage)));
    for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
      const ExecutorMetrics& metrics = outcome.metrics[executor];
      const bool silent = IsSilent(stage, executor);
      EXPECT_EQ(metrics.late_records, silent ? kAfterSilence : 0);
      EXPECT_EQ(metrics.idle_periods, silent ? 1 : 0);
      EXPECT_EQ(metrics.idle_ns > 0, silent);
    }
  }

  Workload workload_{.records = 3'000, .idle_timeout_ns = 2'000'000};
  Stage stage_{.silent = GetParam()};
};

TEST_P(IdleFlows, HoldNoWindowBackAcrossNodes) {
  workload_.nodes = 3;
  std::vector<std::vector<TestRow>> rows(3);
  const std::unique_ptr<Query> query = CountQuery(workload_, stage_, rows);
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload_, *query, outcome.metrics);
  CollectOutcome(rows, outcome);
  Expect(workload_, stage_, outcome);
}

TEST_P(IdleFlows, HoldNoWindowBackInAnyOrder) {
  workload_.executors = 3;
  for (std::uint64_t order_seed = 1; order_seed <= kOrders; ++order_seed) {
    SCOPED_TRACE(absl::StrCat("order ", order_seed));
    Stage stage{.silent = GetParam()};
    std::vector<std::vector<TestRow>> rows(3);
    const std::unique_ptr<Query> query = CountQuery(workload_, stage, rows);
    ClusterOutcome outcome;
    outcome.status = RunExecutors(workload_, *query, order_seed, outcome.metrics);
    CollectOutcome(rows, outcome);
    Expect(workload_, stage, outcome);
  }
}

INSTANTIATE_TEST_SUITE_P(OfThree, IdleFlows,
                         ::testing::Values(std::vector<std::uint32_t>{1}, std::vector<std::uint32_t>{0, 2}),
                         [](const auto& silent) { return absl::StrCat("Flow", absl::StrJoin(silent.param, "And")); });

/// The right stream has ended, and the left flow of executor 1 is silent: its windows fire as those of executor 0 do.
TEST(IdleJoin, OfAStreamAtAllExecutorsGoesOnWithTheOthers) {
  const Workload workload{.nodes = 2, .records = 3'000, .idle_timeout_ns = 2'000'000};
  Workload right = workload;
  right.records = 500;
  right.seed = 7;
  Stage stage{.silent = {1}, .fired_ms = workload.window_ms};
  std::vector<std::vector<TestRow>> rows(2);
  const std::unique_ptr<Query> query =
      Join(PausingRecords(workload, stage), From(TestSource(right)))
          .On(&TestRecord::key, &TestRecord::key)
          .Ship(RightToAll{})
          .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
          .Keep(&TestRecord::kind, &TestRecord::kind)
          .Map([](const auto& pair) {
            return TestRow{pair.window_start_ms, pair.window_end_ms, pair.key, std::get<0>(pair.value)};
          })
          .To(Watching{&stage, &rows});
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_FALSE(stage.gave_up) << "the windows of executor 1 waited for its silent flow";
}

}  // namespace
}  // namespace glaive::engine

// Streams that reach a sink without a window, queries with several sinks, and functions that see each record once.

#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include <gtest/gtest.h>

#include "engine/api/together.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "engine/sink/for_each.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/counting_cluster.h"
#include "tests/engine/disordered_source.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

struct Line {
  std::int64_t time_ms;
  std::uint64_t text;

  friend bool operator==(const Line&, const Line&) = default;
};

bool IsSelected(const TestRecord& record) { return record.kind == 0; }
Line ToLine(const TestRecord& record) { return {.time_ms = record.event_time_ms, .text = record.key * 3 + 1}; }

/// What an executor writes, in its order.
std::vector<Line> LinesOf(const Workload& workload, std::uint32_t executor) {
  std::vector<Line> lines;
  for (std::uint64_t number = 0; number < workload.records; ++number) {
    const TestRecord record = MakeRecord(workload, executor, number);
    if (IsSelected(record)) lines.push_back(ToLine(record));
  }
  return lines;
}

std::uint64_t AllLines(const Workload& workload) {
  std::uint64_t lines = 0;
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    lines += LinesOf(workload, executor).size();
  }
  return lines;
}

/// Has a hundred numbers, then fails: its last batch has another number, and a watermark behind numbers never read.
class FailingSource final : public Source<std::uint64_t> {
 public:
  SourceBatch<std::uint64_t> Poll() override {
    if (std::exchange(has_polled_, true)) {
      numbers_ = {1'000};
      return {.records = numbers_, .watermark_ms = 2'000, .ended = true};
    }
    numbers_.resize(100);
    std::iota(numbers_.begin(), numbers_.end(), 0);
    return {.records = numbers_, .watermark_ms = 99};
  }
  absl::Status status() const override { return absl::DataLossError("the disk is gone"); }

 private:
  bool has_polled_ = false;
  std::vector<std::uint64_t> numbers_;
};

using Sinks = OnEachShape;

TEST_P(Sinks, AStreamNeedsNoWindow) {
  const Workload workload = this->workload();
  std::vector<std::vector<Line>> lines(workload.executor_count());
  const std::unique_ptr<Query> query = From(TestSource(workload)).Filter(&IsSelected).Map(&ToLine).To(Collect(lines));
  ClusterOutcome outcome = Run(*query);
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    EXPECT_TRUE(SameSequence(lines[executor], LinesOf(workload, executor)))
        << "executor " << executor << ": others, or another order";
  }
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::records), workload.executor_count() * workload.records);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::records_accepted), AllLines(workload));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::results), AllLines(workload));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::messages), 0U) << "no record moves";
}

TEST_P(Sinks, RecordsThemselvesCanBeWritten) {
  const Workload workload = this->workload();
  std::vector<std::vector<TestRecord>> records(workload.executor_count());
  const std::unique_ptr<Query> query = From(TestSource(workload)).To(Collect(records));
  Run(*query);
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    ASSERT_EQ(records[executor].size(), workload.records);
    for (std::uint64_t number = 0; number < workload.records; ++number) {
      EXPECT_EQ(records[executor][number].key, MakeRecord(workload, executor, number).key) << number;
    }
  }
}

TEST_P(Sinks, AStreamWithTwoSinksIsReadOnce) {
  const Workload workload = this->workload();
  std::vector<std::vector<Line>> lines(workload.executor_count());
  std::vector<std::vector<TestRow>> counts(workload.executor_count());
  const auto selected = From(TestSource(workload)).Filter(&IsSelected);
  const std::unique_ptr<Query> query = Together(Stream(selected).Map(&ToLine).To(Collect(lines)),
                                                Stream(selected)
                                                    .KeyBy(&TestRecord::key)
                                                    .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
                                                    .Aggregate(Count{})
                                                    .To(Collect(counts)));
  ClusterOutcome outcome = Run(*query);
  CollectOutcome(counts, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, SequentialCounts(workload)));
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    EXPECT_TRUE(SameSequence(lines[executor], LinesOf(workload, executor))) << "executor " << executor;
  }
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::records), workload.executor_count() * workload.records);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::results), outcome.rows + AllLines(workload));
}

TEST_P(Sinks, AStageWithSeveralSinksRunsOnce) {
  const Workload workload = this->workload();
  const auto counts = [&] {
    return From(TestSource(workload))
        .Filter(&IsSelected)
        .KeyBy(&TestRecord::key)
        .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
        .Aggregate(Count{});
  };
  const ClusterOutcome alone = Run(*counts().To(Discard{}));

  std::vector<std::vector<TestRow>> all(workload.executor_count());
  std::vector<std::vector<TestRow>> great(workload.executor_count());
  std::vector<std::vector<std::uint64_t>> keys(workload.executor_count());
  const auto shared = counts();
  const std::unique_ptr<Query> query =
      Together(Stream(shared).To(Collect(all)),
               Together(Stream(shared).Filter([](const TestRow& row) { return row.value > 8; }).To(Collect(great)),
                        Stream(shared).Map([](const TestRow& row) { return row.key; }).To(Collect(keys))));
  ClusterOutcome outcome = Run(*query);
  CollectOutcome(all, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, SequentialCounts(workload)));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::windows_fired), Total(alone, &ExecutorMetrics::windows_fired));
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    ASSERT_EQ(keys[executor].size(), all[executor].size());
    std::size_t above = 0;
    for (std::size_t row = 0; row < all[executor].size(); ++row) {
      EXPECT_EQ(keys[executor][row], all[executor][row].key);
      above += all[executor][row].value > 8 ? 1 : 0;
    }
    EXPECT_GT(above, 0U);
    EXPECT_EQ(great[executor].size(), above);
  }
}

TEST_P(Sinks, ASinkThatFailsEndsTheRun) {
  const Workload workload = this->workload();
  std::vector<std::vector<TestRecord>> records(workload.executor_count());
  const std::unique_ptr<Query> query = From(TestSource(workload)).To(Collect(records, /*max_rows=*/1'000));
  ClusterOutcome outcome;
  const absl::Status status = RunNodes(workload, *query, outcome.metrics);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("more than 1000 results"));
}

// In front of a window, records that are late or of another window go another way than the rest.
TEST_P(Sinks, TheLastBatchOfASourceThatFailsReachesNoSink) {
  constexpr auto kTime = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  std::atomic<std::uint64_t> greatest = 0;
  const SourceSpec<std::uint64_t, decltype(kTime)> source{
      .open = [](const SourceContext&) -> absl::StatusOr<std::unique_ptr<Source<std::uint64_t>>> {
        return std::make_unique<FailingSource>();
      },
      .event_time_ms = kTime};
  const auto query = From(source).To(ForEach([&](std::uint64_t number) {
    if (number > greatest) greatest = number;
  }));
  std::vector<ExecutorMetrics> metrics;
  EXPECT_THAT(RunNodes(workload(), *query, metrics).message(), HasSubstr("the disk is gone"));
  EXPECT_LT(greatest, 100U);
}

TEST_P(Sinks, EachRecordIsInspectedOnce) {
  const Workload workload = this->workload();
  std::atomic<std::uint64_t> inspected = 0;
  std::atomic<std::uint64_t> sum = 0;
  const auto stream = From(DisorderedRecords(workload, {.range_ms = 3'000, .bound_ms = 500}))
                          .Filter(&IsSelected)
                          .Inspect([&](const TestRecord& record) {
                            ++inspected;
                            sum += record.key;
                          });
  const std::unique_ptr<Query> query =
      Together(Stream(stream).To(Discard{}), Stream(stream)
                                                 .KeyBy(&TestRecord::key)
                                                 .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
                                                 .Aggregate(Count{})
                                                 .To(Discard{}));
  const ClusterOutcome outcome = Run(*query);
  std::uint64_t keys = 0;
  ForEachTestRecord([&](const TestRecord& record) { keys += IsSelected(record) ? record.key : 0; });
  EXPECT_GT(Total(outcome, &ExecutorMetrics::late_records), 0U) << "or this tests little";
  EXPECT_EQ(inspected, 2 * AllLines(workload)) << "once for each of the two streams";
  EXPECT_EQ(sum, 2 * keys);
}

/// The first source is far behind in event time and always has something to read. What has no vertex in common with it
/// does not wait for it.
TEST(UnrelatedStreams, DoNotWaitForEachOther) {
  const Workload longer{.records = 200'000, .span_ms = 1'000};
  const Workload later{.seed = 2, .records = 20'000, .span_ms = 1'000'000};
  std::uint64_t of_longer = 0;
  std::uint64_t of_later = 0;
  std::uint64_t of_longer_at_the_end = 0;
  const auto query = Together(From(TestSource(longer)).To(ForEach([&](const TestRecord&) { ++of_longer; })),
                              From(TestSource(later)).To(ForEach([&](const TestRecord&) {
                                if (++of_later == later.records) of_longer_at_the_end = of_longer;
                              })));
  std::vector<ExecutorMetrics> metrics;
  ASSERT_EQ(RunNodes(longer, *query, metrics), absl::OkStatus());
  EXPECT_EQ(of_longer, longer.records);
  EXPECT_EQ(of_later, later.records);
  EXPECT_LT(of_longer_at_the_end, longer.records);
}

TEST(LeadOfFlows, IsThatOfTheLongestWindowThatEnds) {
  const auto records = From(TestSource({}));
  const auto query = Together(
      Stream(records).KeyBy(&TestRecord::key).Aggregate(Count{}).To(Discard{}),
      Stream(records).KeyBy(&TestRecord::key).Window(Tumbling{absl::Seconds(10)}).Aggregate(Count{}).To(Discard{}));
  EXPECT_EQ(query->window_ms(), 10'000);
}

GLAIVE_ON_EACH_SHAPE(Sinks);

}  // namespace
}  // namespace glaive::engine

// Records that are offered at times of a schedule, by a clock moved by hand: when they are read, and what latencies
// count.

#include "engine/source/schedule.h"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/join.h"
#include "engine/api/together.h"
#include "engine/metrics/latency_histogram.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_harness.h"

namespace glaive::engine {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Schedule, RecordsAreDueAtEvenTimesFromItsStart) {
  Schedule schedule(4);
  EXPECT_TRUE(schedule.has_times());
  schedule.Start(10 * kSecond);
  schedule.Start(11 * kSecond);
  EXPECT_EQ(schedule.DueNanos(0), 10 * kSecond + kSecond / 4);
  EXPECT_EQ(schedule.DueNanos(3), 11 * kSecond);
  EXPECT_EQ(schedule.RecordsDue(10 * kSecond), 0U);
  EXPECT_EQ(schedule.RecordsDue(11 * kSecond - 1), 3U);
  EXPECT_EQ(schedule.RecordsDue(11 * kSecond), 4U);
  for (const std::uint64_t record : {std::uint64_t{7}, std::uint64_t{1'000'003}}) {
    EXPECT_NEAR(static_cast<double>(schedule.RecordsDue(schedule.DueNanos(record))), static_cast<double>(record + 1),
                1);
  }
}

TEST(Schedule, WithoutARateAllRecordsAreDueAndHaveNoTimes) {
  Schedule schedule(0);
  schedule.Start(10 * kSecond);
  EXPECT_FALSE(schedule.has_times());
  EXPECT_EQ(schedule.RecordsDue(10 * kSecond), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(schedule.DueNanos(3), 0);
}

/// Moves on by 1 us whenever it is asked the time, and as its users say.
class StallClock final : public Clock {
 public:
  std::int64_t NowNanos() const override { return now_ns_ += 1'000; }
  std::int64_t WallMillis() const override { return NowNanos() / 1'000'000; }
  void Advance(std::int64_t ns) { now_ns_ += ns; }

 private:
  mutable std::int64_t now_ns_ = kSecond;
};

using CountOfKey = WindowResult<std::uint64_t, std::uint64_t>;

double Percentile(const LatencyHistogram& latencies, double fraction) {
  const std::array all = {&latencies};
  return static_cast<double>(PercentileNanos(all, fraction)) / 1e9;
}

/// 20,000 records of 2 s, offered 10,000 a second.
constexpr Workload kTwoSeconds{.records = 20'000, .span_ms = 2'000, .batch_records = 100};

/// What is behind the records: a sink, a join without windows with a row of each key, or stages of windows of 100 ms.
enum class Behind : std::uint8_t { kSink, kJoin, kOneStage, kTwoStages, kTwoStagesWithSinks };

std::vector<ExecutorMetrics> RunOffered(StallClock& clock, double records_per_second, Behind behind,
                                        const std::function<void(const TestRecord&)>& inspect,
                                        std::uint32_t executors = 1) {
  Workload workload = kTwoSeconds;
  workload.executors = executors;
  workload.clock = &clock;
  auto records = From(TestSource(workload, {.records_per_second = records_per_second})).Inspect(inspect);
  const Tumbling window{absl::Milliseconds(100)};
  std::unique_ptr<Query> query;
  if (behind == Behind::kSink) {
    query = std::move(records).To(Discard{});
  } else if (behind == Behind::kJoin) {
    query = Join(std::move(records).WithoutEventTime(), FromRange(0, workload.keys))
                .On(&TestRecord::key, std::identity())
                .Window(Unbounded{})
                .To(Discard{});
  } else {
    const auto counts = std::move(records).KeyBy(&TestRecord::key).Window(window).Aggregate(Count{});
    auto one = Stream(counts).To(Discard{});
    auto two = Stream(counts).Window(window).Aggregate(Max{&CountOfKey::value}).To(Discard{});
    query = behind == Behind::kOneStage    ? std::move(one)
            : behind == Behind::kTwoStages ? std::move(two)
                                           : Together(one, two);
  }
  std::vector<ExecutorMetrics> metrics;
  EXPECT_EQ(RunExecutors(workload, *query, 1, metrics), absl::OkStatus());
  return metrics;
}

/// The clock stalls the run for a second at record 8,000: 10,000 records are offered meanwhile, and wait.
std::vector<ExecutorMetrics> RunWithAStall(double records_per_second, Behind behind, std::uint32_t executors) {
  StallClock clock;
  std::uint64_t read = 0;
  const auto inspect = [&](const TestRecord&) {
    if (++read == std::uint64_t{8'000} * executors) clock.Advance(kSecond);
  };
  return RunOffered(clock, records_per_second, behind, inspect, executors);
}
ExecutorMetrics RunWithAStall(double records_per_second, Behind behind) {
  return RunWithAStall(records_per_second, behind, 1).at(0);
}

TEST(LatencyAtARate, EachRecordThatAStallHasHeldUpCountsItsOwnWaiting) {
  const ExecutorMetrics metrics = RunWithAStall(10'000, Behind::kSink);
  EXPECT_EQ(metrics.row_latency.count(), 20'000U);
  EXPECT_LT(Percentile(metrics.row_latency, 0.4), 0.1) << "records outside of the stall";
  EXPECT_NEAR(Percentile(metrics.row_latency, 0.75), 0.5, 0.1);
  EXPECT_NEAR(Percentile(metrics.row_latency, 0.99), 0.98, 0.1);
  EXPECT_NEAR(static_cast<double>(metrics.row_latency.max_ns()) / 1e9, 1.0, 0.1);
  EXPECT_EQ(metrics.scheduled_records, 20'000U);
  EXPECT_NEAR(static_cast<double>(metrics.schedule_ns) / 1e9, 2.0, 0.01);
  EXPECT_NEAR(static_cast<double>(metrics.schedule_lag_ns) / 1e9, 1.0, 0.1);
  EXPECT_LT(metrics.last_schedule_lag_ns, 100'000'000U) << "the last records came in time again";
}

TEST(LatencyAtARate, APairOfAJoinWithoutWindowsCountsFromItsLastRecord) {
  for (const std::uint32_t executors : {1U, 2U}) {
    SCOPED_TRACE(executors);
    const std::vector<ExecutorMetrics> all = RunWithAStall(10'000, Behind::kJoin, executors);
    std::uint64_t rows = 0;
    for (const ExecutorMetrics& metrics : all) {
      EXPECT_GT(metrics.row_latency.count(), 5'000U) << "each executor leads keys";
      EXPECT_EQ(metrics.window_latency.count(), 0U);
      EXPECT_LT(Percentile(metrics.row_latency, 0.4), 0.1) << "records outside of the stall";
      EXPECT_NEAR(Percentile(metrics.row_latency, 0.75), 0.5, 0.15);
      EXPECT_NEAR(Percentile(metrics.row_latency, 0.99), 1.0, 0.15);
      rows += metrics.row_latency.count();
    }
    EXPECT_EQ(rows, executors * 20'000U);
  }
}

/// Results of another stage count from the same records: those of the stage before are no results.
class LatencyOfWindowsAtARate : public testing::TestWithParam<Behind> {};

TEST_P(LatencyOfWindowsAtARate, WindowsThatAStallHasHeldUpCountFromTheRecordsThatEndThem) {
  const ExecutorMetrics metrics = RunWithAStall(10'000, GetParam());
  EXPECT_EQ(metrics.window_latency.count(), 20U);
  EXPECT_LT(Percentile(metrics.window_latency, 0.4), 0.1);
  EXPECT_NEAR(Percentile(metrics.window_latency, 0.75), 0.5, 0.15);
  EXPECT_NEAR(static_cast<double>(metrics.window_latency.max_ns()) / 1e9, 1.0, 0.15);
  EXPECT_EQ(metrics.row_latency.count(), 0U) << "rows of windows are counted by window";
}

INSTANTIATE_TEST_SUITE_P(Stages, LatencyOfWindowsAtARate, testing::Values(Behind::kOneStage, Behind::kTwoStages),
                         [](const auto& info) { return std::string(info.param == Behind::kOneStage ? "One" : "Two"); });

TEST(LatencyAtARate, ResultsOfEachStageCountThatReachASink) {
  const ExecutorMetrics metrics = RunWithAStall(10'000, Behind::kTwoStagesWithSinks);
  EXPECT_EQ(metrics.window_latency.count(), 40U);
}

TEST(LatencyAtARate, RecordsThatComeFasterThanTheyAreReadLagBehind) {
  StallClock clock;
  const auto take_100_us = [&](const TestRecord&) { clock.Advance(100'000); };
  const ExecutorMetrics metrics = RunOffered(clock, 40'000, Behind::kSink, take_100_us).at(0);
  EXPECT_NEAR(static_cast<double>(metrics.schedule_ns) / 1e9, 0.5, 0.01);
  EXPECT_NEAR(static_cast<double>(metrics.last_schedule_lag_ns) / 1e9, 1.5, 0.1);
  EXPECT_NEAR(Percentile(metrics.row_latency, 0.5), 0.75, 0.1);
}

TEST(LatencyAtARate, WithoutARateLatenciesCountFromReading) {
  const ExecutorMetrics metrics = RunWithAStall(0, Behind::kSink);
  EXPECT_EQ(metrics.row_latency.count(), 20'000U);
  EXPECT_LT(Percentile(metrics.row_latency, 0.99), 0.1) << "one batch alone has met the stall";
  EXPECT_EQ(metrics.scheduled_records, 0U);
}

}  // namespace
}  // namespace glaive::engine

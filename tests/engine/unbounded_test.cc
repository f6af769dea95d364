// Aggregates without windows over a cluster, as of every so much event time or at the end, with records out of order,
// against plain loops.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "engine/api/stream.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/disordered_source.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

struct UnboundedShape {
  std::int64_t every_ms;  // 0: at the end only
  Disorder disorder = {};
  std::int64_t lateness_ms = 0;  // allowed
};

using RunningCounts = std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t>;  // {as of, key} -> count

struct ExpectedTotals {
  RunningCounts counts;
  std::uint64_t partly_late = 0;
};

// When a record shows for the first time: at the first multiple behind it that its reader had not passed.
std::int64_t FirstShownMs(std::int64_t every_ms, std::int64_t event_time_ms, std::int64_t watermark_ms) {
  if (every_ms == 0) return kMaxEventTimeMs;
  std::int64_t end_ms = -1'000 * every_ms;
  while (end_ms <= event_time_ms || end_ms <= watermark_ms) end_ms += every_ms;
  return end_ms;
}

ExpectedTotals Sequential(const Workload& workload, const UnboundedShape& shape) {
  ExpectedTotals expected;
  RunningCounts changes;
  ForEachRecord(workload, shape.disorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    if (record.kind != 0) return;
    const std::int64_t shown_ms =
        FirstShownMs(shape.every_ms, record.event_time_ms, AfterLateness(watermark_ms, shape.lateness_ms));
    ++changes[{shown_ms, record.key}];
    expected.partly_late += shown_ms > FirstShownMs(shape.every_ms, record.event_time_ms, kMinEventTimeMs) ? 1 : 0;
  });
  std::map<std::uint64_t, std::uint64_t> totals;
  for (const auto& [as_of_and_key, count] : changes) {
    expected.counts[as_of_and_key] = totals[as_of_and_key.second] += count;
  }
  return expected;
}

ClusterOutcome RunUnbounded(const Workload& workload, const UnboundedShape& shape, RunningCounts& counts,
                            std::uint64_t order_seed = 0) {
  std::vector<std::vector<TestRow>> rows(workload.executor_count());
  const absl::Duration every = shape.every_ms == 0 ? absl::InfiniteDuration() : absl::Milliseconds(shape.every_ms);
  const std::unique_ptr<Query> query = From(DisorderedRecords(workload, shape.disorder))
                                           .Filter([](const TestRecord& record) { return record.kind == 0; })
                                           .KeyBy(&TestRecord::key)
                                           .Window(Unbounded{.every = every})
                                           .AllowedLateness(absl::Milliseconds(shape.lateness_ms))
                                           .Aggregate(Count{})
                                           .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = order_seed == 0 ? RunNodes(workload, *query, outcome.metrics)
                                   : RunExecutors(workload, *query, order_seed, outcome.metrics);
  for (const auto& leader : rows) {
    for (const TestRow& row : leader) {
      EXPECT_EQ(row.window_start_ms, kMinEventTimeMs);
      EXPECT_TRUE(counts.emplace(std::pair(row.window_end_ms, row.key), row.value).second) << "a row came twice";
    }
  }
  return outcome;
}

class UnboundedCluster : public ::testing::TestWithParam<UnboundedShape> {};

TEST_P(UnboundedCluster, CountsExactlyOnEveryNumberOfNodes) {
  const UnboundedShape& shape = GetParam();
  for (const std::uint64_t keys : {60, 5'000}) {  // few: all of them change each time
    for (const Workload& workload : DisorderedWorkloads(keys)) {
      SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors, ", ", keys, " keys"));
      const ExpectedTotals expected = Sequential(workload, shape);
      RunningCounts counts;
      const ClusterOutcome outcome = RunUnbounded(workload, shape, counts);
      ASSERT_TRUE(outcome.status.ok()) << outcome.status;
      EXPECT_TRUE(SameElements(counts, expected.counts));
      EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
      EXPECT_EQ(Total(outcome, &ExecutorMetrics::partly_late_records), expected.partly_late);
      const bool disordered = shape.disorder.bound_ms + shape.lateness_ms + shape.every_ms < shape.disorder.range_ms;
      EXPECT_EQ(expected.partly_late > 0, shape.every_ms > 0 && disordered);
      EXPECT_EQ(Total(outcome, &ExecutorMetrics::slice_merges) > 0, shape.every_ms > 0);
      EXPECT_EQ(Total(outcome, &ExecutorMetrics::windows_fired_early) > 0, shape.every_ms > 0);
    }
  }
}

TEST_P(UnboundedCluster, CountsExactlyInAnyOrderWithFewSegments) {
  Workload workload{.executors = 3, .records = kManyRecords, .keys = 3'000, .span_ms = 20'000, .slot_bytes = 256};
  workload.credits = 2;
  workload.fragment_bytes = 4096;
  workload.fold.combiner_bytes = 1;  // most records are entries of their own
  workload.max_lead_ms = 1LL << 60;
  workload.epochs = {.epoch_bytes = 1ULL << 60, .epoch_min_bytes = 1ULL << 60, .epoch_interval_ns = 1LL << 60};
  UnboundedShape shape = GetParam();
  shape.disorder.batch_records = 2'000;  // more than goes out in a round
  const ExpectedTotals expected = Sequential(workload, shape);
  std::uint64_t waits = 0;
  for (std::uint64_t order_seed = 1; order_seed <= kOrders; ++order_seed) {
    SCOPED_TRACE(absl::StrCat("order ", order_seed));
    RunningCounts counts;
    const ClusterOutcome outcome = RunUnbounded(workload, shape, counts, order_seed);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_TRUE(SameElements(counts, expected.counts));
    waits += Total(outcome, &ExecutorMetrics::segment_waits);
  }
  EXPECT_GT(waits, 0U);
}

std::string UnboundedName(const ::testing::TestParamInfo<UnboundedShape>& shape) {
  return absl::StrCat("Every", shape.param.every_ms, "Disorder", shape.param.disorder.range_ms, "Bound",
                      shape.param.disorder.bound_ms, "Lateness", shape.param.lateness_ms);
}

INSTANTIATE_TEST_SUITE_P(Shapes, UnboundedCluster,
                         ::testing::Values(UnboundedShape{0}, UnboundedShape{0, {3000, 0}}, UnboundedShape{1000},
                                           UnboundedShape{300, {900, 200}}, UnboundedShape{500, {3000, 0}},
                                           UnboundedShape{700, {5000, 100}, 800}),
                         UnboundedName);

TEST(Unbounded, WithoutKeyAndIntervalHasOneResultForEverything) {
  const Workload workload = DisorderedWorkloads(60)[3];
  std::vector<std::vector<WindowResult<AllRecords, std::uint64_t>>> rows(workload.executor_count());
  const std::unique_ptr<Query> query =
      From(DisorderedRecords(workload, {})).Window(Unbounded{}).Aggregate(Count{}).To(Collect(rows));
  EXPECT_GT(query->window_ms(), std::int64_t{1} << 58) << "flows need not wait for each other";
  EXPECT_GT(4 * query->window_ms(), 0) << "and some of it still fit 64 bits";
  std::vector<ExecutorMetrics> metrics;
  ASSERT_EQ(RunNodes(workload, *query, metrics), absl::OkStatus());
  std::uint64_t results = 0;
  for (const auto& leader : rows) {
    for (const auto& row : leader) {
      ++results;
      EXPECT_EQ(row.value, workload.records * workload.executor_count());
      EXPECT_EQ(row.window_end_ms, kMaxEventTimeMs);
    }
  }
  EXPECT_EQ(results, 1U);
}

}  // namespace
}  // namespace glaive::engine

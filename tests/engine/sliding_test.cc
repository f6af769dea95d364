// Overlapping windows over a cluster, with records out of order and late ones, against a loop over all windows.

#include <cstdint>
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

struct SlidingShape {
  std::int64_t size_ms;
  std::int64_t slide_ms;
  Disorder disorder = {};
  std::int64_t lateness_ms = 0;  // allowed
};

struct ExpectedCounts {
  TestCounts counts;
  std::uint64_t late = 0;
};

void AddRecord(const TestRecord& record, std::int64_t watermark_ms, const SlidingShape& shape,
               ExpectedCounts& expected) {
  if (record.kind != 0) return;
  bool late = true;
  // All starts are multiples of the slide; event times of the workload are not far below 0.
  const std::int64_t last_start_ms = (record.event_time_ms / shape.slide_ms + 1) * shape.slide_ms;
  for (std::int64_t start_ms = last_start_ms; start_ms > record.event_time_ms - shape.size_ms;
       start_ms -= shape.slide_ms) {
    if (start_ms > record.event_time_ms || start_ms + shape.size_ms <= watermark_ms) continue;
    ++expected.counts[{start_ms, record.key}];
    late = false;
  }
  expected.late += late ? 1 : 0;
}

ExpectedCounts Sequential(const Workload& workload, const SlidingShape& shape) {
  ExpectedCounts expected;
  ForEachRecord(workload, shape.disorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    AddRecord(record, AfterLateness(watermark_ms, shape.lateness_ms), shape, expected);
  });
  return expected;
}

// In one thread, in the order of a seed, if there is one.
ClusterOutcome RunSliding(const Workload& workload, const SlidingShape& shape, std::uint64_t order_seed = 0) {
  std::vector<std::vector<TestRow>> rows(workload.executor_count());
  const std::unique_ptr<Query> query =
      From(DisorderedRecords(workload, shape.disorder))
          .Filter([](const TestRecord& record) { return record.kind == 0; })
          .KeyBy(&TestRecord::key)
          .Window(Sliding{absl::Milliseconds(shape.size_ms), absl::Milliseconds(shape.slide_ms)})
          .AllowedLateness(absl::Milliseconds(shape.lateness_ms))
          .Aggregate(Count{})
          .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = order_seed == 0 ? RunNodes(workload, *query, outcome.metrics)
                                   : RunExecutors(workload, *query, order_seed, outcome.metrics);
  CollectOutcome(rows, outcome);
  return outcome;
}

class SlidingCluster : public ::testing::TestWithParam<SlidingShape> {};

TEST_P(SlidingCluster, CountsExactlyOnEveryNumberOfNodes) {
  const SlidingShape& shape = GetParam();
  for (const Workload& workload : DisorderedWorkloads(60)) {
    SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors));
    const ExpectedCounts expected = Sequential(workload, shape);
    const ClusterOutcome outcome = RunSliding(workload, shape);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.rows, outcome.counts.size()) << "a row was emitted twice";
    EXPECT_TRUE(SameElements(outcome.counts, expected.counts));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), expected.late);
    const std::int64_t spared_ms = shape.disorder.bound_ms + shape.lateness_ms + shape.size_ms;
    EXPECT_EQ(expected.late > 0, spared_ms < shape.disorder.range_ms);
    EXPECT_GT(Total(outcome, &ExecutorMetrics::windows_fired_early), 0U);
    const bool overlaps = shape.size_ms > shape.slide_ms;
    const bool disordered = shape.disorder.bound_ms + shape.lateness_ms + shape.slide_ms < shape.disorder.range_ms;
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::partly_late_records) > 0, overlaps && disordered);
    if (shape.disorder.range_ms == 0 && shape.size_ms % shape.slide_ms == 0) {
      EXPECT_LE(Total(outcome, &ExecutorMetrics::slice_merges), 3 * outcome.rows);
    }
  }
}

TEST_P(SlidingCluster, CountsExactlyInAnyOrderWithFewSegments) {
  Workload workload{.executors = 3, .records = kManyRecords, .keys = 3'000, .span_ms = 20'000, .slot_bytes = 256};
  workload.credits = 2;
  workload.fragment_bytes = 4096;
  workload.fold.combiner_bytes = 1;  // most records are entries of their own
  workload.max_lead_ms = 1LL << 60;
  workload.epochs = {.epoch_bytes = 1ULL << 60, .epoch_min_bytes = 1ULL << 60, .epoch_interval_ns = 1LL << 60};
  const ExpectedCounts expected = Sequential(workload, GetParam());
  std::uint64_t waits = 0;
  std::uint64_t late = 0;
  for (std::uint64_t order_seed = 1; order_seed <= kOrders; ++order_seed) {
    SCOPED_TRACE(absl::StrCat("order ", order_seed));
    const ClusterOutcome outcome = RunSliding(workload, GetParam(), order_seed);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_TRUE(SameElements(outcome.counts, expected.counts));
    waits += Total(outcome, &ExecutorMetrics::segment_waits);
    late += Total(outcome, &ExecutorMetrics::late_records);
  }
  EXPECT_TRUE(waits > 0 || late > 0) << "only late records take no segment";
}

std::string SlidingName(const ::testing::TestParamInfo<SlidingShape>& shape) {
  return absl::StrCat("Size", shape.param.size_ms, "Slide", shape.param.slide_ms, "Disorder",
                      shape.param.disorder.range_ms, "Bound", shape.param.disorder.bound_ms, "Lateness",
                      shape.param.lateness_ms);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SlidingCluster,
                         ::testing::Values(SlidingShape{1000, 1000}, SlidingShape{1000, 500}, SlidingShape{1000, 300},
                                           SlidingShape{3000, 100}, SlidingShape{1000, 100, {700, 700}},
                                           SlidingShape{1000, 300, {900, 200}}, SlidingShape{1000, 100, {900, 0}},
                                           SlidingShape{500, 200, {3000, 400}}, SlidingShape{700, 100, {3000, 0}},
                                           SlidingShape{500, 100, {3000, 200}, 800},
                                           SlidingShape{1000, 1000, {3000, 0}, 5000}),
                         SlidingName);

}  // namespace
}  // namespace glaive::engine

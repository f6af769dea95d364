// Overlapping windows over a cluster, with records out of order and late ones, against a loop over all windows.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "engine/api/stream.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_harness.h"

namespace glaive::engine {
namespace {

struct Shape {
  std::int64_t size_ms;
  std::int64_t slide_ms;
  std::int64_t disorder_ms;      // how far a record's time may lie behind
  std::int64_t bound_ms;         // how far the source's watermark does; less makes late records
  std::int64_t lateness_ms = 0;  // allowed beyond it
};

constexpr std::size_t kBatchRecords = 37;

std::vector<TestRecord> RecordsOf(const Workload& workload, const Shape& shape, std::uint32_t executor) {
  std::vector<TestRecord> records;
  for (std::uint64_t number = 0; number < workload.records; ++number) {
    TestRecord record = MakeRecord(workload, executor, number);
    const auto draw = static_cast<std::int64_t>(state::HashKey(number * 1000 + executor) >> 33);
    record.event_time_ms -= shape.disorder_ms == 0 ? 0 : draw % shape.disorder_ms;
    records.push_back(record);
  }
  return records;
}

// What holds once the first `count` records were read.
std::int64_t WatermarkAfter(std::span<const TestRecord> records, std::int64_t before_ms, const Shape& shape) {
  for (const TestRecord& record : records) before_ms = std::max(before_ms, record.event_time_ms - shape.bound_ms);
  return before_ms;
}

class ListSource final : public Source<TestRecord> {
 public:
  ListSource(std::vector<TestRecord> records, const Shape& shape) : records_(std::move(records)), shape_(shape) {}

  SourceBatch<TestRecord> Poll() override {
    const std::span<const TestRecord> left = std::span<const TestRecord>(records_).subspan(position_);
    const std::span<const TestRecord> batch = left.first(std::min(kBatchRecords, left.size()));
    position_ += batch.size();
    watermark_ms_ = WatermarkAfter(batch, watermark_ms_, shape_);
    return {.records = batch, .watermark_ms = watermark_ms_, .ended = position_ == records_.size()};
  }

 private:
  std::vector<TestRecord> records_;
  Shape shape_;
  std::size_t position_ = 0;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
};

struct Expected {
  TestCounts counts;
  std::uint64_t late = 0;
};

void AddRecord(const TestRecord& record, std::int64_t watermark_ms, const Shape& shape, Expected& expected) {
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

Expected Sequential(const Workload& workload, const Shape& shape) {
  Expected expected;
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    const std::vector<TestRecord> records = RecordsOf(workload, shape, executor);
    std::int64_t watermark_ms = kMinEventTimeMs;
    for (std::size_t first = 0; first < records.size(); first += kBatchRecords) {
      const std::span<const TestRecord> left = std::span<const TestRecord>(records).subspan(first);
      const std::span<const TestRecord> batch = left.first(std::min(kBatchRecords, left.size()));
      for (const TestRecord& record : batch)
        AddRecord(record, HeldBack(watermark_ms, shape.lateness_ms), shape, expected);
      watermark_ms = WatermarkAfter(batch, watermark_ms, shape);
    }
  }
  return expected;
}

std::unique_ptr<Query> MakeQuery(const Workload& workload, const Shape& shape,
                                 std::vector<std::vector<TestRow>>& rows) {
  const auto open = [workload,
                     shape](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<TestRecord>>> {
    return std::make_unique<ListSource>(RecordsOf(workload, shape, Value(context.executor)), shape);
  };
  return From(SourceSpec<TestRecord, decltype(kTestEventTime)>{.open = open, .event_time_ms = kTestEventTime})
      .Filter([](const TestRecord& record) { return record.kind == 0; })
      .KeyBy(&TestRecord::key)
      .Window(Sliding{absl::Milliseconds(shape.size_ms), absl::Milliseconds(shape.slide_ms)})
      .AllowedLateness(absl::Milliseconds(shape.lateness_ms))
      .Aggregate(Count{})
      .To(Collect(rows));
}

ClusterOutcome RunSliding(const Workload& workload, const Shape& shape) {
  std::vector<std::vector<TestRow>> rows(workload.executor_count());
  const std::unique_ptr<Query> query = MakeQuery(workload, shape, rows);
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  CollectOutcome(rows, outcome);
  return outcome;
}

std::uint64_t Total(const ClusterOutcome& outcome, std::uint64_t ExecutorMetrics::* counter) {
  std::uint64_t total = 0;
  for (const ExecutorMetrics& metrics : outcome.metrics) total += metrics.*counter;
  return total;
}

class SlidingCluster : public ::testing::TestWithParam<Shape> {};

TEST_P(SlidingCluster, CountsExactlyOnEveryNumberOfNodes) {
  for (const auto& [nodes, executors] : {std::pair(1U, 1U), std::pair(2U, 1U), std::pair(2U, 2U), std::pair(3U, 1U)}) {
    const Workload workload{
        .nodes = nodes, .executors = executors, .records = 4'000, .keys = 60, .span_ms = 20'000, .slot_bytes = 1024};
    SCOPED_TRACE(absl::StrCat(nodes, " nodes of ", executors));
    const Expected expected = Sequential(workload, GetParam());
    const ClusterOutcome outcome = RunSliding(workload, GetParam());
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.rows, outcome.counts.size()) << "a row was emitted twice";
    EXPECT_TRUE(outcome.counts == expected.counts) << outcome.counts.size() << " results of " << expected.counts.size();
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), expected.late);
    EXPECT_EQ(expected.late > 0,
              GetParam().bound_ms + GetParam().lateness_ms < GetParam().disorder_ms - GetParam().size_ms);
    if (GetParam().disorder_ms == 0 && GetParam().size_ms % GetParam().slide_ms == 0) {
      EXPECT_LE(Total(outcome, &ExecutorMetrics::slice_merges), 3 * outcome.rows);
    }
  }
}

std::string NameOf(const ::testing::TestParamInfo<Shape>& shape) {
  return absl::StrCat("Size", shape.param.size_ms, "Slide", shape.param.slide_ms, "Disorder", shape.param.disorder_ms,
                      "Bound", shape.param.bound_ms, "Lateness", shape.param.lateness_ms);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SlidingCluster,
                         ::testing::Values(Shape{1000, 1000, 0, 0}, Shape{1000, 500, 0, 0}, Shape{1000, 300, 0, 0},
                                           Shape{3000, 100, 0, 0}, Shape{1000, 100, 700, 700},
                                           Shape{1000, 300, 900, 200}, Shape{1000, 100, 900, 0},
                                           Shape{500, 200, 3000, 400}, Shape{700, 100, 3000, 0},
                                           Shape{500, 100, 3000, 200, 800}, Shape{1000, 1000, 3000, 0, 5000}),
                         NameOf);

}  // namespace
}  // namespace glaive::engine

// Windows behind Partition(), which merge nothing: they have the rows of windows that are merged late.

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "engine/sink/collect.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

class PartitionedWindows : public OnEachShape {
 protected:
  /// Runs what `results` makes of a stream by key, partitioned and not, and expects the same rows of both.
  template <typename ResultsFn>
  void ExpectSameRows(const ResultsFn& results) const {
    const auto merged_late =
        RowsOf(results(From(TestSource(workload())).KeyBy(&TestRecord::key)), /*merges=*/executors() > 1);
    const auto in_place =
        RowsOf(results(From(TestSource(workload())).KeyBy(&TestRecord::key).Partition()), /*merges=*/false);
    EXPECT_GT(merged_late.size(), 500U) << "or this tests little";
    EXPECT_TRUE(SameElements(in_place, merged_late));
  }

 private:
  using Values = std::multimap<std::tuple<std::int64_t, std::int64_t, std::uint64_t>, std::int64_t>;

  template <typename Results>
  Values RowsOf(Results stream, bool merges) const {
    using Row = typename Results::Record;
    std::vector<std::vector<Row>> rows(executors());
    const ClusterOutcome outcome = Run(*std::move(stream).To(Collect(rows)));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::delta_entries) > 0, merges);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
    Values values;
    for (const auto& of_executor : rows) {
      for (const Row& row : of_executor) {
        values.emplace(std::tuple(row.window_start_ms, row.window_end_ms, row.key),
                       static_cast<std::int64_t>(row.value));
      }
    }
    return values;
  }
};

/// Which window counts a record depends on when it comes.
TEST_P(PartitionedWindows, ByProcessingTime) {
  std::vector<std::vector<TestRow>> rows(executors());
  const ClusterOutcome outcome = Run(*From(TestSource(workload()))
                                          .KeyBy(&TestRecord::key)
                                          .Partition()
                                          .Window(ProcessingTime(Tumbling{absl::Milliseconds(5)}))
                                          .Aggregate(Count{})
                                          .To(Collect(rows)));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::delta_entries), 0U);
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& of_executor : rows) {
    for (const TestRow& row : of_executor) counts[row.key] += row.value;
  }
  std::map<std::uint64_t, std::uint64_t> expected;
  ForEachTestRecord([&](const TestRecord& record) { ++expected[record.key]; });
  EXPECT_EQ(counts, expected);
}

TEST_P(PartitionedWindows, Sliding) {
  ExpectSameRows([](auto keyed) {
    return std::move(keyed)
        .Window(engine::Sliding{absl::Seconds(1), absl::Milliseconds(300)})
        .Aggregate(Sum{[](const TestRecord& record) { return static_cast<std::int64_t>(record.kind); }});
  });
}

TEST_P(PartitionedWindows, Session) {
  ExpectSameRows(
      [](auto keyed) { return std::move(keyed).Window(engine::Session{absl::Milliseconds(60)}).Aggregate(Count{}); });
}

TEST_P(PartitionedWindows, Distinct) {
  ExpectSameRows([](auto keyed) {
    return std::move(keyed).Window(Tumbling{absl::Seconds(1)}).Aggregate(engine::Distinct{&TestRecord::kind});
  });
}

TEST_P(PartitionedWindows, Process) {
  ExpectSameRows([](auto keyed) {
    return std::move(keyed)
        .Window(Tumbling{absl::Seconds(1)})
        .Process([](std::uint64_t /*key*/, TimeWindow /*window*/, std::span<const TestRecord> records) {
          return static_cast<std::int64_t>(records.back().event_time_ms - records.front().event_time_ms);
        });
  });
}

GLAIVE_ON_EACH_SHAPE(PartitionedWindows);

}  // namespace
}  // namespace glaive::engine

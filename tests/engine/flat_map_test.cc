// FlatMap: streams of which a record becomes none, one or many, in front of sinks, windows, joins and behind stages.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/join.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/disordered_source.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

struct Part {
  std::uint64_t key;
  std::uint64_t number;

  friend bool operator==(const Part&, const Part&) = default;
};

/// As many as its key, modulo 4.
std::vector<Part> PartsOf(const TestRecord& record) {
  std::vector<Part> parts;
  for (std::uint64_t number = 0; number < record.key % 4; ++number) parts.push_back({record.key + number, number});
  return parts;
}
bool IsSelected(const TestRecord& record) { return record.kind != 2; }

/// With the numbers of nodes, and of executors of each.
class FlatMaps : public ::testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t>> {
 protected:
  Workload workload() const {
    return {.nodes = std::get<0>(GetParam()), .executors = std::get<1>(GetParam()), .records = 10'000};
  }
  std::uint32_t executors() const { return workload().executor_count(); }

  void Run(const Query& query) {
    ClusterOutcome outcome;
    outcome.status = RunNodes(workload(), query, outcome.metrics);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    late_ = Total(outcome, &ExecutorMetrics::late_records);
  }

  std::uint64_t late_ = 0;
};

TEST_P(FlatMaps, RecordsReachASinkInTheirOrder) {
  std::vector<std::vector<Part>> parts(executors());
  Run(*From(TestSource(workload())).Filter(&IsSelected).FlatMap(&PartsOf).To(Collect(parts)));
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    std::vector<Part> expected;
    for (std::uint64_t number = 0; number < workload().records; ++number) {
      const TestRecord record = MakeRecord(workload(), executor, number);
      if (!IsSelected(record)) continue;
      for (const Part& part : PartsOf(record)) expected.push_back(part);
    }
    EXPECT_TRUE(parts[executor] == expected) << "executor " << executor;
  }
}

TEST_P(FlatMaps, WindowsGroupThemByTheTimesOfTheirRecords) {
  const Disorder disorder{.range_ms = 3'000, .bound_ms = 800};
  std::vector<std::vector<TestRow>> rows(executors());
  Run(*From(DisorderedRecords(workload(), disorder))
           .FlatMap(&PartsOf)
           .Filter([](const Part& part) { return part.number != 1; })
           .KeyBy(&Part::key)
           .Window(Tumbling{absl::Milliseconds(500)})
           .Aggregate(Count{})
           .To(Collect(rows)));
  TestCounts expected;
  std::uint64_t late = 0;
  ForEachRecord(workload(), disorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    const std::int64_t start_ms = (record.event_time_ms + 500'000) / 500 * 500 - 500'000;
    for (const Part& part : PartsOf(record)) {
      if (part.number == 1) continue;
      if (start_ms + 500 > watermark_ms) {
        ++expected[{start_ms, part.key}];
      } else {
        ++late;
      }
    }
  });
  ClusterOutcome outcome;
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
  EXPECT_GT(late, 0U) << "or this tests little";
  EXPECT_EQ(late_, late);
}

TEST_P(FlatMaps, OneRecordMayBecomeMoreThanABatchHolds) {
  std::vector<std::vector<std::uint64_t>> numbers(executors());
  Run(*FromRange(0, 4)
           .FlatMap([](std::uint64_t n) { return std::vector<std::uint64_t>(n * 50'000, n); })
           .To(Collect(numbers)));
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& share : numbers) {
    for (const std::uint64_t number : share) ++counts[number];
  }
  EXPECT_EQ(counts, (std::map<std::uint64_t, std::uint64_t>{{1, 50'000}, {2, 100'000}, {3, 150'000}}));
}

TEST_P(FlatMaps, ResultsOfAStageBecomeMany) {
  std::vector<std::vector<WindowResult<std::uint64_t, std::uint64_t>>> rows(executors());
  // Each count c becomes the numbers below c, of which there are as many as records.
  Run(*From(TestSource(workload()))
           .KeyBy(&TestRecord::key)
           .Window(Tumbling{absl::Seconds(1)})
           .Aggregate(Count{})
           .FlatMap([](const TestRow& row) {
             std::vector<std::uint64_t> below(row.value);
             for (std::uint64_t n = 0; n < row.value; ++n) below[n] = n;
             return below;
           })
           .KeyBy([](std::uint64_t n) { return n % 3; })
           .Window(Tumbling{absl::Seconds(2)})
           .Aggregate(Count{})
           .To(Collect(rows)));
  TestCounts counts;
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    for (std::uint64_t number = 0; number < workload().records; ++number) {
      const TestRecord record = MakeRecord(workload(), executor, number);
      ++counts[{record.event_time_ms / 1'000, record.key}];
    }
  }
  TestCounts expected;
  for (const auto& [window_and_key, count] : counts) {
    for (std::uint64_t n = 0; n < count; ++n) ++expected[{window_and_key.first / 2 * 2'000, n % 3}];
  }
  ClusterOutcome outcome;
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
}

TEST_P(FlatMaps, TheyAreJoined) {
  const auto parts = From(TestSource(workload())).FlatMap(&PartsOf);
  std::vector<std::vector<WindowResult<std::uint64_t, std::uint64_t>>> rows(executors());
  Run(*Join(Stream(parts).Filter([](const Part& part) { return part.number == 0; }),
            Stream(parts).Filter([](const Part& part) { return part.number == 2; }))
           .On(&Part::key, &Part::key)
           .Window(Tumbling{absl::Seconds(1)})
           .Keep(&Part::number, &Part::number)
           .KeyBy([](const auto& pair) { return pair.key; })
           .Window(Tumbling{absl::Seconds(1)})
           .Aggregate(Count{})
           .To(Collect(rows)));
  std::map<std::pair<std::int64_t, std::uint64_t>, std::array<std::uint64_t, 2>> sides;
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    for (std::uint64_t number = 0; number < workload().records; ++number) {
      const TestRecord record = MakeRecord(workload(), executor, number);
      for (const Part& part : PartsOf(record)) {
        if (part.number != 1) ++sides[{record.event_time_ms / 1'000 * 1'000, part.key}][part.number / 2];
      }
    }
  }
  TestCounts expected;
  for (const auto& [window_and_key, each] : sides) {
    if (each[0] * each[1] > 0) expected[window_and_key] = each[0] * each[1];
  }
  ClusterOutcome outcome;
  CollectOutcome(rows, outcome);
  EXPECT_FALSE(expected.empty());
  EXPECT_TRUE(SameElements(outcome.counts, expected));
}

INSTANTIATE_TEST_SUITE_P(Shapes, FlatMaps,
                         ::testing::Values(std::tuple(1, 1), std::tuple(1, 2), std::tuple(2, 1), std::tuple(3, 1)),
                         [](const auto& shape) {
                           return absl::StrCat(std::get<0>(shape.param), "x", std::get<1>(shape.param));
                         });

}  // namespace
}  // namespace glaive::engine

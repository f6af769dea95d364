// FlatMap: streams of which a record becomes none, one or many, in front of sinks, windows, joins and behind stages.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/join.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_shapes.h"
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
bool IsEven(const Part& part) { return part.key % 2 == 0; }

using FlatMaps = OnEachShape;

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
    EXPECT_TRUE(SameSequence(parts[executor], expected)) << "executor " << executor;
  }
}

TEST_P(FlatMaps, WindowsGroupThemByTheTimesOfTheirRecords) {
  const Disorder disorder{.range_ms = 3'000, .bound_ms = 800};
  std::vector<std::vector<TestRow>> rows(executors());
  std::vector<std::vector<LateRecord<Part>>> late_parts(executors());
  ClusterOutcome outcome = Run(*From(DisorderedRecords(workload(), disorder))
                                    .FlatMap(&PartsOf)
                                    .Filter([](const Part& part) { return part.number != 1; })
                                    .KeyBy(&Part::key)
                                    .Window(Tumbling{absl::Milliseconds(500)})
                                    .LateTo(Collect(late_parts))
                                    .Aggregate(Count{})
                                    .To(Collect(rows)));
  TestCounts expected;
  std::map<std::tuple<std::int64_t, std::uint64_t, std::uint64_t>, std::uint64_t> late;
  ForEachRecord(workload(), disorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    const std::int64_t start_ms = (record.event_time_ms + 500'000) / 500 * 500 - 500'000;
    for (const Part& part : PartsOf(record)) {
      if (part.number == 1) continue;
      if (start_ms + 500 > watermark_ms) {
        ++expected[{start_ms, part.key}];
      } else {
        ++late[{record.event_time_ms, part.key, part.number}];
      }
    }
  });
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
  std::uint64_t late_count = 0;
  for (const auto& executor : late_parts) {
    late_count += executor.size();
    for (const LateRecord<Part>& part : executor) --late[{part.event_time_ms, part.record.key, part.record.number}];
  }
  EXPECT_GT(late_count, 0U) << "or this tests little";
  EXPECT_TRUE(std::ranges::all_of(late, [](const auto& part) { return part.second == 0; }));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), late_count);
}

// A block is repeated with later event times.
TEST_P(FlatMaps, RecordsOfARepeatedBlockHaveItsLaterTimes) {
  Workload block = workload();
  block.records /= 4;
  std::vector<std::vector<TestRow>> rows(executors());
  ClusterOutcome outcome = Run(*From(TestSource(block, {.blocks = 4}))
                                    .FlatMap(&PartsOf)
                                    .KeyBy(&Part::key)
                                    .Window(Tumbling{absl::Seconds(3)})
                                    .Aggregate(Count{})
                                    .To(Collect(rows)));
  TestCounts expected;
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    for (std::uint64_t number = 0; number < 4 * block.records; ++number) {
      const TestRecord record = MakeRecord(block, executor, number % block.records);
      const auto round = static_cast<std::int64_t>(number / block.records);
      const std::int64_t time_ms = record.event_time_ms + round * block.span_ms;
      for (const Part& part : PartsOf(record)) ++expected[{time_ms / 3'000 * 3'000, part.key}];
    }
  }
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
}

TEST_P(FlatMaps, PartsBecomePartsAgain) {
  const auto twice = [](const Part& part) { return std::array{part.key, part.key + part.number}; };
  std::vector<std::vector<std::uint64_t>> numbers(executors());
  Run(*From(TestSource(workload())).FlatMap(&PartsOf).Filter(&IsEven).FlatMap(twice).To(Collect(numbers)));
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t number = 0; number < workload().records; ++number) {
      for (const Part& part : PartsOf(MakeRecord(workload(), executor, number))) {
        if (!IsEven(part)) continue;
        expected.push_back(part.key);
        expected.push_back(part.key + part.number);
      }
    }
    EXPECT_TRUE(SameSequence(numbers[executor], expected)) << "executor " << executor;
  }
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
  std::vector<std::vector<TestRow>> rows(executors());
  // Each count c becomes the numbers below c, of which there are as many as records.
  ClusterOutcome outcome = Run(*From(TestSource(workload()))
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
  ForEachTestRecord([&](const TestRecord& record) { ++counts[{record.event_time_ms / 1'000, record.key}]; });
  TestCounts expected;
  for (const auto& [window_and_key, count] : counts) {
    for (std::uint64_t n = 0; n < count; ++n) ++expected[{window_and_key.first / 2 * 2'000, n % 3}];
  }
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
}

TEST_P(FlatMaps, TheyAreJoined) {
  const auto parts = From(TestSource(workload())).FlatMap(&PartsOf);
  std::vector<std::vector<TestRow>> rows(executors());
  ClusterOutcome outcome = Run(*Join(Stream(parts).Filter([](const Part& part) { return part.number == 0; }),
                                     Stream(parts).Filter([](const Part& part) { return part.number == 2; }))
                                    .On(&Part::key, &Part::key)
                                    .Window(Tumbling{absl::Seconds(1)})
                                    .Keep(&Part::number, &Part::number)
                                    .KeyBy([](const auto& pair) { return pair.key; })
                                    .Window(Tumbling{absl::Seconds(1)})
                                    .Aggregate(Count{})
                                    .To(Collect(rows)));
  std::map<std::pair<std::int64_t, std::uint64_t>, std::array<std::uint64_t, 2>> sides;
  ForEachTestRecord([&](const TestRecord& record) {
    for (const Part& part : PartsOf(record)) {
      if (part.number != 1) ++sides[{record.event_time_ms / 1'000 * 1'000, part.key}][part.number / 2];
    }
  });
  TestCounts expected;
  for (const auto& [window_and_key, each] : sides) {
    if (each[0] * each[1] > 0) expected[window_and_key] = each[0] * each[1];
  }
  CollectOutcome(rows, outcome);
  EXPECT_FALSE(expected.empty());
  EXPECT_TRUE(SameElements(outcome.counts, expected));
}

GLAIVE_ON_EACH_SHAPE(FlatMaps);

}  // namespace
}  // namespace glaive::engine

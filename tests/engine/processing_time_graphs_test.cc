// Processing time behind stages, in unions and in joins, beside other streams of the same source: each record counts
// once, and no source waits for ever.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "engine/api/join.h"
#include "engine/api/together.h"
#include "engine/api/union.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

constexpr std::int64_t kSizeMs = 5;
/// Before any time of a host's clock, and behind the event times of the test's records.
constexpr std::int64_t kBeforeClocksMs = 1'600'000'000'000;

/// A number that counts for a key.
struct Weighed {
  std::uint64_t key;
  std::uint64_t weight;
};
using WeightRow = WindowResult<std::uint64_t, absl::int128>;
using KeyCounts = std::map<std::uint64_t, std::uint64_t>;

Weighed OneOf(const TestRecord& record) { return {.key = record.key, .weight = 1}; }
Weighed CountedOf(const TestRow& row) { return {.key = row.key, .weight = row.value}; }

class ProcessingTimeGraphs : public OnEachShape {
 protected:
  /// A source waits soon: for what is behind by more than 10 ms.
  Workload workload() const override {
    Workload workload = OnEachShape::workload();
    workload.max_lead_ms = 10;
    return workload;
  }

  /// The counts of windows of event time.
  template <typename Records>
  static auto CountsOf(const Records& records) {
    return Stream(records)
        .KeyBy(&TestRecord::key)
        .Window(Tumbling{absl::Milliseconds(kSizeMs)})
        .Aggregate(Count{})
        .Map(&CountedOf);
  }

  /// The weights of a stream by key and window, added up for each key.
  template <typename Weights>
  KeyCounts TotalsOf(Weights weights) const {
    std::vector<std::vector<WeightRow>> rows(executors());
    const ClusterOutcome outcome = Run(*std::move(weights)
                                            .KeyBy(&Weighed::key)
                                            .Window(Tumbling{absl::Milliseconds(kSizeMs)})
                                            .Aggregate(Sum{&Weighed::weight})
                                            .To(Collect(rows)));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::records), executors() * workload().records) << "each is read once";
    KeyCounts totals;
    for (const auto& of_executor : rows) {
      for (const WeightRow& row : of_executor) totals[row.key] += static_cast<std::uint64_t>(row.value);
    }
    return totals;
  }

  KeyCounts CountsByKey(std::uint64_t times) const {
    KeyCounts counts;
    ForEachTestRecord([&](const TestRecord& record) { counts[record.key] += times; });
    return counts;
  }
};

TEST_P(ProcessingTimeGraphs, ResultsOfAStageCountOnceEach) {
  const auto records = From(TestSource(workload()));
  EXPECT_EQ(TotalsOf(CountsOf(records).WithProcessingTime()), CountsByKey(1));
}

TEST_P(ProcessingTimeGraphs, ResultsOfAStageAreUnitedWithTheirSource) {
  const auto records = From(TestSource(workload()));
  EXPECT_EQ(TotalsOf(Union(CountsOf(records).WithProcessingTime(), Stream(records).Map(&OneOf).WithProcessingTime())),
            CountsByKey(2));
}

/// Event times do not come as far as the clock, on whichever side they are.
TEST_P(ProcessingTimeGraphs, AStreamWithEventTimesIsUnitedWithOneByTheClock) {
  const auto records = From(TestSource(workload()));
  EXPECT_EQ(TotalsOf(Union(CountsOf(records), Stream(records).Map(&OneOf).WithProcessingTime())), CountsByKey(2));
  EXPECT_EQ(TotalsOf(Union(CountsOf(records).WithProcessingTime(), Stream(records).Map(&OneOf))), CountsByKey(2));
}

/// Copies of a stream have the same times.
TEST_P(ProcessingTimeGraphs, BothStreamsOfAJoinHaveTheTimesAtWhichTheyAreTakenIn) {
  /// A record, and when it was taken in.
  struct TakenIn {
    std::uint64_t key;
    std::int64_t event_time_ms;
    std::int64_t taken_ms;
  };
  using Row = WindowResult<std::uint64_t, std::tuple<std::int64_t, std::int64_t>>;
  using Pair = std::tuple<std::int64_t, std::uint64_t, std::int64_t, std::int64_t>;  // window start, key, event times
  constexpr std::int64_t kJoinedMs = 20;
  Workload left = workload();
  left.records = 2'000;
  left.keys = 500;
  left.batch_records = 100;  // the executor reads both streams in turn
  Workload right = left;
  right.seed = 77;
  const auto left_records = From(TestSource(left)).WithProcessingTime();
  const auto right_records = From(TestSource(right)).WithProcessingTime();
  const auto with_times = [](const auto& records) {
    return Stream(records).MapWithTime([](const TestRecord& record, std::int64_t time_ms) {
      return TakenIn{.key = record.key, .event_time_ms = record.event_time_ms, .taken_ms = time_ms};
    });
  };
  std::array<std::vector<std::vector<TakenIn>>, 2> taken{std::vector<std::vector<TakenIn>>(executors()),
                                                         std::vector<std::vector<TakenIn>>(executors())};
  std::vector<std::vector<Row>> rows(executors());
  const ClusterOutcome outcome =
      Run(*Together(with_times(left_records).To(Collect(taken[0])), with_times(right_records).To(Collect(taken[1])),
                    Join(Stream(left_records), Stream(right_records))
                        .On(&TestRecord::key, &TestRecord::key)
                        .Window(Tumbling{absl::Milliseconds(kJoinedMs)})
                        .Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms)
                        .To(Collect(rows))));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
  std::map<std::pair<std::int64_t, std::uint64_t>, std::array<std::vector<std::int64_t>, 2>> groups;
  for (std::size_t side = 0; side < 2; ++side) {
    std::uint64_t records = 0;
    for (const auto& of_executor : taken[side]) {
      records += of_executor.size();
      for (const TakenIn& each : of_executor) {
        EXPECT_GE(each.taken_ms, kBeforeClocksMs);
        groups[{each.taken_ms / kJoinedMs * kJoinedMs, each.key}][side].push_back(each.event_time_ms);
      }
    }
    EXPECT_EQ(records, executors() * left.records);
  }
  std::multiset<Pair> expected;
  for (const auto& [group, times] : groups) {
    for (const std::int64_t left_ms : times[0]) {
      for (const std::int64_t right_ms : times[1]) expected.insert({group.first, group.second, left_ms, right_ms});
    }
  }
  EXPECT_FALSE(expected.empty());
  std::multiset<Pair> found;
  for (const auto& of_executor : rows) {
    for (const Row& row : of_executor) {
      found.insert({row.window_start_ms, row.key, std::get<0>(row.value), std::get<1>(row.value)});
    }
  }
  EXPECT_TRUE(SameElements(found, expected));
}

/// No window has records of both, and each record is without a partner.
TEST_P(ProcessingTimeGraphs, AStreamWithEventTimesIsJoinedWithOneByTheClock) {
  using Time = std::optional<std::int64_t>;
  using Row = WindowResult<std::uint64_t, std::tuple<Time, Time>>;
  std::vector<std::vector<Row>> rows(executors());
  const auto records = From(TestSource(workload()));
  const auto run = [&](auto left, auto right) {
    rows.assign(executors(), {});
    const ClusterOutcome outcome = Run(*FullJoin(std::move(left), std::move(right))
                                            .On(&TestRecord::key, &TestRecord::key)
                                            .Window(Tumbling{absl::Milliseconds(kSizeMs)})
                                            .Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms)
                                            .To(Collect(rows)));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
    std::array<KeyCounts, 2> alone;
    for (const auto& of_executor : rows) {
      for (const Row& row : of_executor) {
        const auto& [left_ms, right_ms] = row.value;
        EXPECT_NE(left_ms.has_value(), right_ms.has_value());
        ++alone[left_ms ? 0 : 1][row.key];
      }
    }
    EXPECT_EQ(alone[0], CountsByKey(1));
    EXPECT_EQ(alone[1], CountsByKey(1));
  };
  run(Stream(records), Stream(records).WithProcessingTime());
  run(Stream(records).WithProcessingTime(), Stream(records));
}

TEST_P(ProcessingTimeGraphs, WindowsWithoutAKeyHaveEachRecordOnce) {
  using Row = WindowResult<AllRecords, std::uint64_t>;
  std::array<std::vector<std::vector<Row>>, 3> rows;
  rows.fill(std::vector<std::vector<Row>>(executors()));
  const auto records = From(TestSource(workload()));
  const auto count = [](TimeWindow /*window*/, std::span<const TestRecord> all) { return std::uint64_t{all.size()}; };
  Run(*Together(Stream(records)
                    .Window(ProcessingTime(Tumbling{absl::Milliseconds(kSizeMs)}))
                    .Aggregate(Count{})
                    .To(Collect(rows[0])),
                Stream(records)
                    .WithProcessingTime()
                    .Window(Session{absl::Milliseconds(kSizeMs)})
                    .Aggregate(Count{})
                    .To(Collect(rows[1])),
                Stream(records)
                    .Window(ProcessingTime(Tumbling{absl::Milliseconds(kSizeMs)}))
                    .Process(count)
                    .To(Collect(rows[2]))));
  for (const auto& result : rows) {
    std::uint64_t total = 0;
    for (const auto& of_executor : result) {
      for (const Row& row : of_executor) {
        total += row.value;
        EXPECT_GE(row.window_start_ms, kBeforeClocksMs);
      }
    }
    EXPECT_EQ(total, executors() * workload().records);
  }
}

TEST_P(ProcessingTimeGraphs, AFunctionOfAllRecordsOfAWindowHasEachRecordOnce) {
  std::vector<std::vector<TestRow>> of_records(executors());
  std::vector<std::vector<TestRow>> of_results(executors());
  const auto records = From(TestSource(workload()));
  const auto count = [](std::uint64_t /*key*/, TimeWindow /*window*/, std::span<const TestRecord> all) {
    return std::uint64_t{all.size()};
  };
  const auto total = [](std::uint64_t /*key*/, TimeWindow /*window*/, std::span<const Weighed> all) {
    std::uint64_t weight = 0;
    for (const Weighed& each : all) weight += each.weight;
    return weight;
  };
  const auto window = ProcessingTime(Tumbling{absl::Milliseconds(kSizeMs)});
  Run(*Together(Stream(records).KeyBy(&TestRecord::key).Window(window).Process(count).To(Collect(of_records)),
                CountsOf(records).KeyBy(&Weighed::key).Window(window).Process(total).To(Collect(of_results))));
  for (const auto* rows : {&of_records, &of_results}) {
    KeyCounts counts;
    for (const auto& of_executor : *rows) {
      for (const TestRow& row : of_executor) counts[row.key] += row.value;
    }
    EXPECT_EQ(counts, CountsByKey(1));
  }
}

GLAIVE_ON_EACH_SHAPE(ProcessingTimeGraphs);

}  // namespace
}  // namespace glaive::engine

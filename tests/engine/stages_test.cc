// Queries of several stages: results that are grouped again, streams that are split and joined, tables that are joined.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/api/join.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/disordered_source.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using Result = std::tuple<std::int64_t, std::int64_t, std::uint64_t, std::uint64_t>;  // start, end, key, value
using Results = std::vector<Result>;

constexpr Disorder kStageDisorder{2000, 500};
constexpr std::int64_t kStageLatenessMs = 300;

std::int64_t WindowStart(std::int64_t time_ms, std::int64_t size_ms) {
  return (time_ms + 1000 * size_ms) / size_ms * size_ms - 1000 * size_ms;
}
bool IsInTime(std::int64_t window_end_ms, std::int64_t watermark_ms) {
  return window_end_ms > AfterLateness(watermark_ms, kStageLatenessMs);
}

Results AllResults(const std::vector<std::vector<TestRow>>& rows) {
  Results results;
  for (const auto& leader : rows) {
    for (const TestRow& row : leader) results.emplace_back(row.window_start_ms, row.window_end_ms, row.key, row.value);
  }
  return results;
}

/// Runs a query on clusters of one to three nodes, and in one thread under random orders; compares with `expected`.
template <typename Build, typename Expect>
void ExpectResults(const Build& build, const Expect& expect) {
  for (const Workload& workload : DisorderedWorkloads(50)) {
    SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors));
    std::vector<std::vector<TestRow>> rows(workload.executor_count());
    const std::unique_ptr<Query> query = build(workload, rows);
    ClusterOutcome outcome;
    outcome.status = RunNodes(workload, *query, outcome.metrics);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    const Results expected = expect(workload);
    EXPECT_GT(expected.size(), 10U) << "or this tests little";
    EXPECT_TRUE(SameElements(AllResults(rows), expected));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::records), workload.executor_count() * workload.records)
        << "a stream that is split is read once";
  }
  Workload workload{.executors = 3,
                    .records = 1'500,
                    .keys = 40,
                    .span_ms = 8'000,
                    .slot_bytes = 512,
                    .credits = 2,
                    .fragment_bytes = 1024};
  workload.epochs = {.epoch_bytes = 1000, .epoch_min_bytes = 1, .epoch_interval_ns = 1};
  for (std::uint64_t seed = 1; seed <= kOrders; ++seed) {
    SCOPED_TRACE(absl::StrCat("order ", seed));
    std::vector<std::vector<TestRow>> rows(workload.executor_count());
    const std::unique_ptr<Query> query = build(workload, rows);
    ClusterOutcome outcome;
    outcome.status = RunExecutors(workload, *query, seed, outcome.metrics);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_TRUE(SameElements(AllResults(rows), expect(workload)));
  }
}

/// Counts of each key in windows of 500 ms that are in time.
std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> CountsOfKind(const Workload& workload,
                                                                             std::uint64_t kind) {
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> counts;
  ForEachRecord(workload, kStageDisorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    const std::int64_t start_ms = WindowStart(record.event_time_ms, 500);
    if (record.kind == kind && IsInTime(start_ms + 500, watermark_ms)) ++counts[{start_ms, record.key}];
  });
  return counts;
}

/// A sum in full; one that needs more bits becomes the greatest number, which no sum here is.
std::uint64_t InFull(const absl::int128& sum) {
  const bool fits = sum >= 0 && sum <= absl::int128(std::numeric_limits<std::uint64_t>::max());
  return fits ? static_cast<std::uint64_t>(sum) : std::numeric_limits<std::uint64_t>::max();
}

template <typename S>
auto CountsOf(S stream, std::int64_t window_ms = 500) {
  return std::move(stream)
      .KeyBy(&TestRecord::key)
      .Window(Tumbling{absl::Milliseconds(window_ms)})
      .AllowedLateness(absl::Milliseconds(kStageLatenessMs))
      .Aggregate(Count{});
}

TEST(Stages, ResultsAreGroupedAgainByAnotherKey) {
  ExpectResults(
      [](const Workload& workload, std::vector<std::vector<TestRow>>& rows) {
        return CountsOf(From(DisorderedRecords(workload, kStageDisorder)).Filter([](const TestRecord& record) {
                 return record.kind == 0;
               }))
            .KeyBy([](const TestRow& row) { return row.key % 7; })
            .Window(Tumbling{absl::Seconds(2)})
            .Aggregate(Sum{&TestRow::value})
            .Map([](const auto& row) {
              return TestRow{row.window_start_ms, row.window_end_ms, row.key, InFull(row.value)};
            })
            .To(Collect(rows));
      },
      [](const Workload& workload) {
        std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> sums;
        for (const auto& [window, count] : CountsOfKind(workload, 0)) {
          sums[{WindowStart(window.first + 499, 2000), window.second % 7}] += count;
        }
        Results expected;
        for (const auto& [window, sum] : sums) {
          expected.emplace_back(window.first, window.first + 2000, window.second, sum);
        }
        return expected;
      });
}

TEST(Stages, ResultsOfTheSameKeyStayWithTheirLeader) {
  Workload workload{.nodes = 2, .records = 5'000, .keys = 100, .window_ms = 500};
  std::vector<std::vector<TestRow>> rows(2);
  const auto query =
      From(TestSource(workload))
          .KeyBy(&TestRecord::key)
          .Window(Tumbling{absl::Milliseconds(500)})
          .Aggregate(Count{})
          .KeyBy(&TestRow::key)
          .Window(Tumbling{absl::Seconds(2)})
          .Aggregate(Max{&TestRow::value})
          .Map([](const auto& row) { return TestRow{row.window_start_ms, row.window_end_ms, row.key, row.value}; })
          .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::results), rows[0].size() + rows[1].size());
  const state::KeyHash hash(RunTokenOf(workload));
  for (std::uint32_t leader = 0; leader < 2; ++leader) {
    EXPECT_FALSE(rows[leader].empty());
    for (const TestRow& row : rows[leader]) EXPECT_EQ(Value(state::LeaderOf(hash(row.key), 2)), leader);
  }
  // All deltas are the first stage's: each of its entries is a key and a window that the other executor leads.
  EXPECT_LE(Total(outcome, &ExecutorMetrics::delta_entries), Total(outcome, &ExecutorMetrics::folded_records));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::merges), Total(outcome, &ExecutorMetrics::delta_entries));
}

TEST(Stages, ResultsOfSlidingWindowsAndOfAllKeysAreGroupedAgain) {
  ExpectResults(
      [](const Workload& workload, std::vector<std::vector<TestRow>>& rows) {
        return From(DisorderedRecords(workload, kStageDisorder))
            .KeyBy(&TestRecord::key)
            .Window(Sliding{absl::Milliseconds(900), absl::Milliseconds(300)})
            .AllowedLateness(absl::Milliseconds(kStageLatenessMs))
            .Aggregate(Count{})
            .Window(Tumbling{absl::Milliseconds(300)})
            .Aggregate(Max{&TestRow::value})
            .Map([](const auto& row) { return TestRow{row.window_start_ms, row.window_end_ms, 0, row.value}; })
            .To(Collect(rows));
      },
      [](const Workload& workload) {
        std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> counts;  // by the window's end and the key
        ForEachRecord(workload, kStageDisorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
          for (std::int64_t start_ms = WindowStart(record.event_time_ms, 300); start_ms + 900 > record.event_time_ms;
               start_ms -= 300) {
            if (IsInTime(start_ms + 900, watermark_ms)) ++counts[{start_ms + 900, record.key}];
          }
        });
        std::map<std::int64_t, std::uint64_t> greatest;
        for (const auto& [window, count] : counts) {
          greatest[window.first] = std::max(greatest[window.first], count);
        }
        Results expected;
        for (const auto& [end_ms, count] : greatest) expected.emplace_back(end_ms - 300, end_ms, 0, count);
        return expected;
      });
}

TEST(Stages, SessionsAreGroupedAgain) {
  ExpectResults(
      [](const Workload& workload, std::vector<std::vector<TestRow>>& rows) {
        return From(DisorderedRecords(workload, kStageDisorder))
            .KeyBy(&TestRecord::key)
            .Window(Session{absl::Milliseconds(150)})
            .AllowedLateness(absl::Milliseconds(kStageLatenessMs))
            .Aggregate(Count{})
            .KeyBy([](const TestRow& row) { return row.key % 3; })
            .Window(Tumbling{absl::Seconds(1)})
            .Aggregate(Count{})
            .To(Collect(rows));
      },
      [](const Workload& workload) {
        std::map<std::uint64_t, std::vector<std::int64_t>> times;
        ForEachRecord(workload, kStageDisorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
          if (record.event_time_ms >= AfterLateness(watermark_ms, kStageLatenessMs)) {
            times[record.key].push_back(record.event_time_ms);
          }
        });
        std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> sessions;
        for (auto& [key, of_key] : times) {
          std::sort(of_key.begin(), of_key.end());
          for (std::size_t i = 0; i < of_key.size(); ++i) {
            if (i + 1 == of_key.size() || of_key[i + 1] - of_key[i] >= 150) {
              ++sessions[{WindowStart(of_key[i] + 149, 1000), key % 3}];
            }
          }
        }
        Results expected;
        for (const auto& [window, count] : sessions) {
          expected.emplace_back(window.first, window.first + 1000, window.second, count);
        }
        return expected;
      });
}

TEST(Stages, AStreamIsSplitAndItsAggregatesAreJoined) {
  ExpectResults(
      [](const Workload& workload, std::vector<std::vector<TestRow>>& rows) {
        const auto [zeros, ones] = From(DisorderedRecords(workload, kStageDisorder))
                                       .Split([](const TestRecord& record) { return record.kind == 0; },
                                              [](const TestRecord& record) { return record.kind == 1; });
        return Join(CountsOf(zeros), CountsOf(ones))
            .On(&TestRow::key, &TestRow::key)
            .Window(Tumbling{absl::Milliseconds(500)})
            .Keep(&TestRow::value, &TestRow::value)
            .Map([](const auto& row) {
              const auto& [zero, one] = row.value;
              return TestRow{row.window_start_ms, row.window_end_ms, row.key, zero * 1000 + one};
            })
            .To(Collect(rows));
      },
      [](const Workload& workload) {
        const auto zeros = CountsOfKind(workload, 0);
        const auto ones = CountsOfKind(workload, 1);
        Results expected;
        for (const auto& [window, zero] : zeros) {
          if (const auto one = ones.find(window); one != ones.end()) {
            expected.emplace_back(window.first, window.first + 500, window.second, zero * 1000 + one->second);
          }
        }
        return expected;
      });
}

TEST(Stages, ASourceIsJoinedWithResultsOfItself) {
  ExpectResults(
      [](const Workload& workload, std::vector<std::vector<TestRow>>& rows) {
        const auto all = From(DisorderedRecords(workload, kStageDisorder));
        return Join(Stream(all), CountsOf(all))
            .On(&TestRecord::key, &TestRow::key)
            .Window(Tumbling{absl::Milliseconds(500)})
            .AllowedLateness(absl::Milliseconds(kStageLatenessMs))
            .Keep(&TestRecord::kind, &TestRow::value)
            .KeyBy([](const auto& row) { return row.key; })
            .Window(Tumbling{absl::Milliseconds(500)})
            .Aggregate(Count{})
            .To(Collect(rows));
      },
      [](const Workload& workload) {
        Results expected;
        std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> counts;
        for (const std::uint64_t kind : {0, 1, 2}) {
          for (const auto& [window, count] : CountsOfKind(workload, kind)) counts[window] += count;
        }
        for (const auto& [window, count] : counts) {
          expected.emplace_back(window.first, window.first + 500, window.second, count);
        }
        return expected;
      });
}

constexpr std::uint64_t kSilentAfter = 500;  // records
constexpr std::int64_t kSilentNs = 3'000'000'000;

/// A join's streams may be far apart, and a flow is idle after 50 ms.
Workload MakeIdleWorkload() {
  Workload workload{
      .nodes = 2, .records = 2'000, .keys = 20, .span_ms = 10'000, .batch_records = 20, .max_lead_ms = 40'000};
  workload.idle_timeout_ns = 50'000'000;
  return workload;
}

TEST(Stages, AnIdleSourceBehindAnAggregationHoldsAJoinUpNoLonger) {
  const Workload workload = MakeIdleWorkload();
  using Joined = WindowResult<std::uint64_t, std::tuple<std::uint64_t, std::optional<std::uint64_t>>>;
  std::vector<std::vector<Joined>> rows(2);
  const auto query =
      LeftJoin(From(TestSource(workload, {.records_per_second = 2'000})),
               CountsOf(From(TestSource(workload, {.silent_after = kSilentAfter, .silent_ns = kSilentNs})), 1000))
          .On(&TestRecord::key, &TestRow::key)
          .Window(Tumbling{absl::Seconds(1)})
          .Keep(&TestRecord::kind, &TestRow::value)
          .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(rows[0].size() + rows[1].size(), 2 * workload.records) << "each record has one result";
  EXPECT_GT(Total(outcome, &ExecutorMetrics::idle_periods), 0U);
  // The aggregation and the join each fire two windows a node before the source falls silent; the join goes on while
  // the other one reads, eight more in 0.8 s if nothing holds the machine up.
  EXPECT_GT(Total(outcome, &ExecutorMetrics::windows_fired_early), 2U * 6U);
}

TEST(Stages, ResultsThatAJoinDidNotWaitForGoToLateTo) {
  const Workload workload = MakeIdleWorkload();
  using Joined = WindowResult<std::uint64_t, std::tuple<std::optional<std::uint64_t>, std::optional<std::uint64_t>>>;
  std::vector<std::vector<Joined>> rows(2);
  std::vector<std::vector<LateRecord<TestRow>>> late(2);
  const auto query =
      FullJoin(From(TestSource(workload, {.records_per_second = 2'000})),
               CountsOf(From(TestSource(workload, {.silent_after = kSilentAfter, .silent_ns = kSilentNs})), 1000))
          .On(&TestRecord::key, &TestRow::key)
          .Window(Tumbling{absl::Seconds(1)})
          .LateTo(Discard{}, Collect(late))
          .Keep(&TestRecord::kind, &TestRow::value)
          .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;

  TestCounts joined;
  TestCounts handed_out;
  for (std::uint32_t node = 0; node < workload.nodes; ++node) {
    for (const Joined& row : rows[node]) {
      if (const auto& count = std::get<1>(row.value)) joined[{row.window_start_ms, row.key}] = *count;
    }
    for (const auto& result : late[node]) {
      EXPECT_EQ(result.event_time_ms, result.record.window_end_ms - 1);
      EXPECT_GT(result.watermark_ms, result.event_time_ms);
      handed_out[{result.record.window_start_ms, result.record.key}] += result.record.value;
    }
  }
  EXPECT_FALSE(joined.empty());
  EXPECT_FALSE(handed_out.empty()) << "the join waited, and this tests nothing";
  for (const auto& [window, count] : handed_out) EXPECT_TRUE(joined.emplace(window, count).second) << "joined as well";
  TestCounts counts;
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    for (std::uint64_t number = 0; number < kSilentAfter; ++number) {
      const TestRecord record = MakeRecord(workload, executor, number);
      ++counts[{record.event_time_ms / 1000 * 1000, record.key}];
    }
  }
  for (const auto& [window, count] : counts) {
    EXPECT_EQ(joined[window], count) << "of key " << window.second << " in the window from " << window.first << " ms";
  }
  EXPECT_EQ(joined.size(), counts.size());
}

TEST(StagesDeathTest, AStreamThatWasMovedAwayIsNamed) {
  const auto use_twice = [] {
    auto stream = From(TestSource(Workload{}));
    auto first = CountsOf(std::move(stream));
    std::vector<std::vector<TestRow>> rows(1);
    (void)CountsOf(std::move(stream)).To(Collect(rows));  // NOLINT(bugprone-use-after-move)
  };
  EXPECT_DEATH(use_twice(), "takes in a stream that was moved away: use a copy of it, or Split\\(\\)");
}

TEST(Stages, ATableThatSeveralStreamsJoinCountsOnceAsMemory) {
  std::map<std::uint64_t, std::uint64_t> names;
  for (std::uint64_t key = 0; key < 1000; ++key) names.emplace(key, key);
  const auto table = std::make_shared<const StaticTable<std::uint64_t, std::uint64_t>>(names);
  EXPECT_GE(table->size_bytes(), 1000 * 2 * sizeof(std::uint64_t));
  std::vector<std::vector<TestRow>> rows(1);
  const auto joined = [&](auto stream) {
    return CountsOf(std::move(stream).JoinTable(
        table, &TestRecord::key, [](const TestRecord& record, std::uint64_t /*name*/) { return record; }));
  };
  const auto [first, second] =
      From(TestSource(Workload{}))
          .Split([](const TestRecord&) { return true; }, [](const TestRecord&) { return true; });
  const auto query =
      Join(joined(first), joined(second))
          .On(&TestRow::key, &TestRow::key)
          .Window(Tumbling{absl::Seconds(1)})
          .Keep(&TestRow::value, &TestRow::value)
          .Map([](const auto& pair) { return TestRow{pair.window_start_ms, pair.window_end_ms, pair.key, 0}; })
          .To(Collect(rows));
  EXPECT_EQ(query->table_bytes(), table->size_bytes());
}

TEST(Stages, ATableIsJoinedAndRecordsItDoesNotHaveAreDropped) {
  std::map<std::uint64_t, std::uint64_t> names;
  for (std::uint64_t key = 0; key < 50; key += 3) names.emplace(key, key * 100);
  const auto table = std::make_shared<const StaticTable<std::uint64_t, std::uint64_t>>(names);
  EXPECT_EQ(table->size(), names.size());
  ExpectResults(
      [&](const Workload& workload, std::vector<std::vector<TestRow>>& rows) {
        return CountsOf(From(DisorderedRecords(workload, kStageDisorder))
                            .JoinTable(table, &TestRecord::key,
                                       [](TestRecord record, std::uint64_t name) {
                                         record.key = name;
                                         return record;
                                       })
                            .Filter([](const TestRecord& record) { return record.kind == 0; }))
            .To(Collect(rows));
      },
      [&](const Workload& workload) {
        Results expected;
        for (const auto& [window, count] : CountsOfKind(workload, 0)) {
          if (names.contains(window.second)) {
            expected.emplace_back(window.first, window.first + 500, window.second * 100, count);
          }
        }
        return expected;
      });
}

TEST(StagesDeathTest, ATableHasAKeyOnce) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> twice = {{1, 2}, {1, 3}};
  EXPECT_DEATH((StaticTable<std::uint64_t, std::uint64_t>(twice)), "a key of a static table comes twice");
}

}  // namespace
}  // namespace glaive::engine

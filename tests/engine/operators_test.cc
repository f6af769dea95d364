// Steps that make streams of others on each executor: Flatten, RichMap and its relatives, Route, Unkey, DropKey,
// WithEventTime, WithoutEventTime, Cache, FoldAssoc, ReduceAssoc.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/together.h"
#include "engine/api/union.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "engine/steps/fold.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

using Operators = OnEachShape;

/// The keys of an executor's records, in their order.
std::vector<std::uint64_t> KeysOf(const Workload& workload, std::uint32_t executor) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t number = 0; number < workload.records; ++number) {
    keys.push_back(MakeRecord(workload, executor, number).key);
  }
  return keys;
}

TEST_P(Operators, FlattenMakesRecordsOfTheElementsOfRecords) {
  std::vector<std::vector<std::uint64_t>> numbers(executors());
  Run(*From(TestSource(workload()))
           .Map([](const TestRecord& record) { return std::array{record.key, record.kind}; })
           .Flatten()
           .To(Collect(numbers)));
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t number = 0; number < workload().records; ++number) {
      const TestRecord record = MakeRecord(workload(), executor, number);
      expected.push_back(record.key);
      expected.push_back(record.kind);
    }
    EXPECT_TRUE(SameSequence(numbers[executor], expected)) << "executor " << executor;
  }
}

/// Running sums: the state goes on from record to record, and each executor has its own.
TEST_P(Operators, RichMapHasAStateOnEachExecutor) {
  std::vector<std::vector<std::uint64_t>> sums(executors());
  Run(*From(TestSource(workload()))
           .RichMap(std::uint64_t{1'000},
                    [](std::uint64_t& sum, const TestRecord& record) { return sum += record.key; })
           .To(Collect(sums)));
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    std::vector<std::uint64_t> expected;
    std::uint64_t sum = 1'000;
    for (const std::uint64_t key : KeysOf(workload(), executor)) expected.push_back(sum += key);
    EXPECT_TRUE(SameSequence(sums[executor], expected)) << "executor " << executor;
  }
}

TEST_P(Operators, RichFilterMapDropsAndRichFlatMapMultiplies) {
  struct Last {
    std::uint64_t key = 0;
  };
  // Where the key grows: the new key; then as many of it as it has grown by.
  std::vector<std::vector<std::uint64_t>> numbers(executors());
  Run(*From(TestSource(workload()))
           .RichFilterMap(Last{},
                          [](Last& last, const TestRecord& record) {
                            const bool grows = record.key > std::exchange(last.key, record.key);
                            return grows ? std::optional(record.key) : std::nullopt;
                          })
           .RichFlatMap(std::uint64_t{0},
                        [](std::uint64_t& last, const std::uint64_t& key) {
                          const std::uint64_t step = std::max(key, last) - std::exchange(last, key);
                          return std::vector<std::uint64_t>(step % 5, key);
                        })
           .To(Collect(numbers)));
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    std::vector<std::uint64_t> expected;
    std::uint64_t before = 0;
    std::uint64_t last = 0;
    for (const std::uint64_t key : KeysOf(workload(), executor)) {
      if (key > before) {
        const std::uint64_t step = key > last ? key - last : 0;
        expected.insert(expected.end(), step % 5, key);
        last = key;
      }
      before = key;
    }
    EXPECT_TRUE(SameSequence(numbers[executor], expected)) << "executor " << executor;
  }
}

/// All numbers, in order.
std::vector<std::uint64_t> SortedNumbers(const std::vector<std::vector<std::uint64_t>>& shares) {
  std::vector<std::uint64_t> all;
  for (const auto& share : shares) all.insert(all.end(), share.begin(), share.end());
  std::ranges::sort(all);
  return all;
}

TEST_P(Operators, SplitSendsARecordToEachBranchThatTakesIt) {
  auto [all, even, third] =
      FromRange(0, 1'000).Split([](std::uint64_t) { return true; }, [](std::uint64_t n) { return n % 2 == 0; },
                                [](std::uint64_t n) { return n % 3 == 0; });
  std::vector<std::vector<std::uint64_t>> numbers(executors());
  std::vector<std::vector<std::uint64_t>> even_numbers(executors());
  std::vector<std::vector<std::uint64_t>> third_numbers(executors());
  Run(*Together(std::move(all).To(Collect(numbers)), std::move(even).To(Collect(even_numbers)),
                std::move(third).To(Collect(third_numbers))));
  std::array<std::vector<std::uint64_t>, 3> expected;
  for (std::uint64_t n = 0; n < 1'000; ++n) {
    expected[0].push_back(n);
    if (n % 2 == 0) expected[1].push_back(n);
    if (n % 3 == 0) expected[2].push_back(n);
  }
  EXPECT_TRUE(SameElements(SortedNumbers(numbers), expected[0]));
  EXPECT_TRUE(SameElements(SortedNumbers(even_numbers), expected[1]));
  EXPECT_TRUE(SameElements(SortedNumbers(third_numbers), expected[2]));
}

TEST_P(Operators, RouteSendsARecordToTheFirstBranchThatTakesIt) {
  auto [small, even, rest] =
      FromRange(0, 10'000).Route([](std::uint64_t n) { return n < 100; }, [](std::uint64_t n) { return n % 2 == 0; },
                                 [](std::uint64_t n) { return n % 3 == 0; });
  std::vector<std::vector<std::uint64_t>> numbers(executors());
  std::vector<std::vector<std::uint64_t>> even_numbers(executors());
  std::vector<std::vector<std::uint64_t>> other_numbers(executors());
  Run(*Together(std::move(small).To(Collect(numbers)), std::move(even).To(Collect(even_numbers)),
                std::move(rest).To(Collect(other_numbers))));
  std::array<std::vector<std::uint64_t>, 3> expected;
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    if (n < 100) {
      expected[0].push_back(n);
    } else if (n % 2 == 0) {
      expected[1].push_back(n);
    } else if (n % 3 == 0) {
      expected[2].push_back(n);
    }
  }
  EXPECT_TRUE(SameElements(SortedNumbers(numbers), expected[0]));
  EXPECT_TRUE(SameElements(SortedNumbers(even_numbers), expected[1]));
  EXPECT_TRUE(SameElements(SortedNumbers(other_numbers), expected[2]));
}

TEST_P(Operators, AKeyCanBeDroppedOrShown) {
  using Shown = KeyedRecord<std::uint64_t, std::uint64_t>;
  std::vector<std::vector<Shown>> shown(executors());
  std::vector<std::vector<std::uint64_t>> bare(executors());
  const auto third = [](std::uint64_t n) { return n / 3; };
  const auto numbers = FromRange(0, 3'000);
  Run(*Together(Stream(numbers).KeyBy(third).Unkey().To(Collect(shown)),
                Stream(numbers).KeyBy(third).DropKey().To(Collect(bare))));
  std::uint64_t next = 0;
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    ASSERT_EQ(shown[executor].size(), bare[executor].size());
    for (std::size_t i = 0; i < bare[executor].size(); ++i, ++next) {
      ASSERT_EQ(bare[executor][i], next);
      ASSERT_EQ(shown[executor][i], (Shown{.key = next / 3, .record = next}));
    }
  }
  EXPECT_EQ(next, 3'000U);
}

/// Numbers become times: out of order by 40 ms at most.
std::int64_t TimeOfNumber(std::uint64_t n) { return static_cast<std::int64_t>(n * 10 + n * 7 % 41); }

TEST_P(Operators, RecordsGetEventTimesAndWatermarks) {
  std::vector<std::vector<TestRow>> rows(executors());
  const auto query = FromRange(0, 20'000)
                         .Filter([](std::uint64_t n) { return n % 3 != 0; })
                         .WithEventTime(&TimeOfNumber, absl::Milliseconds(41))
                         .KeyBy([](std::uint64_t n) { return n % 5; })
                         .Window(Tumbling{absl::Milliseconds(250)})
                         .Aggregate(Count{})
                         .To(Collect(rows));
  Workload workload = this->workload();
  workload.epochs = {.epoch_bytes = 1, .epoch_min_bytes = 1, .epoch_interval_ns = 1};
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  TestCounts expected;
  for (std::uint64_t n = 0; n < 20'000; ++n) {
    if (n % 3 != 0) ++expected[{TimeOfNumber(n) / 250 * 250, n % 5}];
  }
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
  EXPECT_GT(Total(outcome, &ExecutorMetrics::epochs), executors()) << "windows fire before the end of the stream";
}

TEST_P(Operators, EpochsEndAsOftenWhereAStepDropsNearlyAllRecords) {
  constexpr std::uint64_t kBatches = 20;
  Workload workload = this->workload();
  workload.batch_records = workload.records / kBatches;
  workload.window_ms = workload.span_ms / static_cast<std::int64_t>(kBatches);
  workload.epochs = {.epoch_bytes = 1ULL << 60, .epoch_min_bytes = 1'000, .epoch_interval_ns = 1LL << 60};
  workload.max_lead_ms = workload.span_ms;
  std::vector<std::vector<TestRow>> rows(executors());
  const auto query = From(TestSource(workload))
                         .RichFilterMap(std::uint64_t{0},
                                        [](std::uint64_t& read, const TestRecord& record) {
                                          return ++read % 200 == 0 ? std::optional(record) : std::nullopt;
                                        })
                         .KeyBy(&TestRecord::key)
                         .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
                         .Aggregate(Count{})
                         .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_GE(Total(outcome, &ExecutorMetrics::epochs), executors() * (kBatches - 2))
      << "a batch passes a window's end, and has more bytes than an epoch needs";
}

/// Executor 0 reads its first record once all others have read their last one, which is further ahead in the times that
/// are taken away than --max-lead allows.
TEST_P(Operators, WithoutEventTimeNoExecutorWaitsForOthers) {
  constexpr std::uint64_t kRecords = 20'000;
  constexpr auto kPatience = std::chrono::seconds(30);
  Workload workload = this->workload();
  workload.max_lead_ms = 1'000;
  std::atomic<std::uint32_t> ended = 0;
  std::atomic<bool> timed_out = false;
  const auto wait_for_others = [&, others = executors() - 1] {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (ended < others && !timed_out) {
      std::this_thread::yield();
      timed_out = std::chrono::steady_clock::now() > deadline;
    }
  };
  const auto numbers = FromParallel([&](const SourceContext& context) {
    return [&, is_first = Value(context.executor) == 0, next = std::uint64_t{0}]() mutable {
      if (is_first && next == 0) wait_for_others();
      if (!is_first && next == kRecords) ++ended;
      return next < kRecords ? std::optional(next++) : std::nullopt;
    };
  });
  std::vector<std::vector<TestRow>> rows(executors());
  const auto query = Stream(numbers)
                         .WithEventTime([](std::uint64_t n) { return static_cast<std::int64_t>(n * 1'000); })
                         .WithoutEventTime()
                         .KeyBy([](std::uint64_t n) { return n % 5; })
                         .Aggregate(Count{})
                         .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_FALSE(timed_out);
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& of_executor : rows) {
    for (const TestRow& row : of_executor) counts[row.key] += row.value;
  }
  for (std::uint64_t key = 0; key < 5; ++key) EXPECT_EQ(counts[key], kRecords / 5 * executors());
  EXPECT_EQ(counts.size(), 5U);
}

/// Results come a window later than their records, by more than --max-lead. The source goes on all the same.
TEST_P(Operators, EventTimesOfResultsStayBehindTheSource) {
  struct Seen {
    std::int64_t time_ms;
    std::uint64_t key;
  };
  constexpr std::int64_t kSizeMs = 600;
  Workload workload = this->workload();
  workload.max_lead_ms = 100;
  std::vector<std::vector<TestRow>> rows(executors());
  const auto records = From(TestSource(workload));
  auto results = Stream(records)
                     .KeyBy(&TestRecord::key)
                     .Window(Tumbling{absl::Milliseconds(kSizeMs)})
                     .Aggregate(Count{})
                     .Map([](const TestRow& row) { return Seen{row.window_end_ms - 1, row.key}; })
                     .WithoutEventTime()
                     .WithEventTime(&Seen::time_ms);
  auto seen = Stream(records).Map([](const TestRecord& record) { return Seen{record.event_time_ms, record.key}; });
  const auto query = Union(std::move(results), std::move(seen))
                         .KeyBy(&Seen::key)
                         .Window(Tumbling{absl::Milliseconds(2 * kSizeMs)})
                         .Aggregate(Count{})
                         .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  std::set<std::pair<std::int64_t, std::uint64_t>> windows;
  TestCounts expected;
  ForEachTestRecord([&](const TestRecord& record) {
    const std::int64_t window_ms = record.event_time_ms / kSizeMs * kSizeMs;
    const bool is_new = windows.insert({window_ms, record.key}).second;
    expected[{window_ms / (2 * kSizeMs) * (2 * kSizeMs), record.key}] += is_new ? 2 : 1;
  });
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
}

TEST_P(Operators, EventTimesMayFollowThoseThatWereTakenAway) {
  std::vector<std::vector<TestRow>> rows(executors());
  ClusterOutcome outcome = Run(*From(TestSource(workload()))
                                    .WithoutEventTime()
                                    .WithEventTime(&TestRecord::event_time_ms)
                                    .KeyBy(&TestRecord::key)
                                    .Window(Tumbling{absl::Milliseconds(300)})
                                    .Aggregate(Count{})
                                    .To(Collect(rows)));
  TestCounts expected;
  ForEachTestRecord([&](const TestRecord& record) { ++expected[{record.event_time_ms / 300 * 300, record.key}]; });
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
}

TEST_P(Operators, TheStepsBeforeCacheRunOnceForAllCopies) {
  std::atomic<std::uint64_t> calls = 0;
  std::vector<std::vector<std::uint64_t>> first(executors());
  std::vector<std::vector<std::uint64_t>> second(executors());
  const auto squares = FromRange(0, 3'000)
                           .Map([&calls](std::uint64_t n) {
                             ++calls;
                             return n * n;
                           })
                           .Cache();
  Run(*Together(Stream(squares).To(Collect(first)),
                Stream(squares).Filter([](std::uint64_t n) { return n % 2 == 0; }).To(Collect(second))));
  EXPECT_EQ(calls, 3'000U);
  std::uint64_t next = 0;
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    std::vector<std::uint64_t> even;
    for (const std::uint64_t square : first[executor]) {
      ASSERT_EQ(square, next * next);
      if (next++ % 2 == 0) even.push_back(square);
    }
    EXPECT_TRUE(SameSequence(second[executor], even)) << "executor " << executor;
  }
  EXPECT_EQ(next, 3'000U);
}

TEST_P(Operators, ARecordWithoutAnEventTimeEndsTheRun) {
  const auto query = FromRange(0, 10)
                         .WithEventTime([](std::uint64_t) { return std::numeric_limits<std::int64_t>::max(); })
                         .To(Discard{});
  ClusterOutcome outcome;
  const absl::Status status = RunNodes(workload(), *query, outcome.metrics);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("WithEventTime() has a record with the event time 9223372036854775807 ms"));
}

struct Extent {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();

  friend bool operator==(const Extent&, const Extent&) = default;
};

TEST_P(Operators, FunctionsOfTheQueryFoldAndReduce) {
  const auto fold = FoldAssoc(
      Extent{},
      [](Extent& extent, const TestRecord& record) {
        extent.least = std::min(extent.least, record.event_time_ms);
        extent.greatest = std::max(extent.greatest, record.event_time_ms);
      },
      [](Extent& extent, const Extent& other) {
        extent.least = std::min(extent.least, other.least);
        extent.greatest = std::max(extent.greatest, other.greatest);
      });
  const auto reduce = ReduceAssoc([](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  const auto records = From(TestSource(workload()));
  std::vector<std::vector<WindowResult<std::uint64_t, Extent>>> extents(executors());
  std::vector<std::vector<WindowResult<AllRecords, std::uint64_t>>> greatest(executors());
  Run(*Together(Stream(records).KeyBy(&TestRecord::key).Aggregate(fold).To(Collect(extents)),
                Stream(records)
                    .Map([](const TestRecord& record) { return record.key * 3; })
                    .Aggregate(reduce)
                    .To(Collect(greatest))));
  std::map<std::uint64_t, Extent> expected;
  std::uint64_t expected_greatest = 0;
  ForEachTestRecord([&](const TestRecord& record) {
    Extent& extent = expected[record.key];
    extent.least = std::min(extent.least, record.event_time_ms);
    extent.greatest = std::max(extent.greatest, record.event_time_ms);
    expected_greatest = std::max(expected_greatest, record.key * 3);
  });
  std::map<std::uint64_t, Extent> found;
  for (const auto& leader : extents) {
    for (const auto& row : leader) EXPECT_TRUE(found.emplace(row.key, row.value).second);
  }
  EXPECT_TRUE(SameSequence(found, expected));
  std::vector<std::uint64_t> found_greatest;
  for (const auto& leader : greatest) {
    for (const auto& row : leader) found_greatest.push_back(row.value);
  }
  EXPECT_EQ(found_greatest, (std::vector<std::uint64_t>{expected_greatest}));
}

GLAIVE_ON_EACH_SHAPE(Operators);

}  // namespace
}  // namespace glaive::engine

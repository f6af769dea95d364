// Fold and Reduce of each key and of all records, with and without the exchange.

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/together.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/numbered_records.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using Folds = OnEachShape;
GLAIVE_ON_EACH_SHAPE(Folds);

TEST_P(Folds, FoldShowsTheStateOfEachKeyAtTheEnd) {
  std::map<std::uint64_t, std::uint64_t> expected;
  ForEachMixed(executors(), [&](std::uint64_t key, std::uint64_t state) { expected[key] = state; });
  const auto expect = [&](const Query& query, const std::vector<std::vector<TestRow>>& rows) {
    Run(query);
    std::map<std::uint64_t, std::uint64_t> shown;
    for (const TestRow& row : Joined(rows)) {
      EXPECT_TRUE(shown.emplace(row.key, row.value).second) << "two rows of key " << row.key;
      EXPECT_EQ(row.window_start_ms, kMinEventTimeMs);
      EXPECT_EQ(row.window_end_ms, kMaxEventTimeMs);
    }
    EXPECT_TRUE(SameElements(shown, expected));
  };
  std::vector<std::vector<TestRow>> rows(executors());
  expect(*NumberedRecords().KeyBy(&Numbered::key).Fold(std::uint64_t{7}, &MixIn).To(Collect(rows)), rows);
  std::vector<std::vector<TestRow>> returned(executors());
  expect(*NumberedRecords().KeyBy(&Numbered::key).Fold(std::uint64_t{7}, &MixedWith).To(Collect(returned)), returned);
}

TEST_P(Folds, ReduceBeginsAtTheFirstRecord) {
  std::map<std::uint64_t, std::uint64_t> expected;
  for (std::uint64_t reader = 0; reader < executors(); ++reader) {
    for (std::uint64_t number = 0; number < kNumbered; ++number) {
      const std::uint64_t key = number % kKeysOfReader * 8 + reader;
      const auto [at, is_new] = expected.emplace(key, number);
      if (!is_new) at->second = Mixed(at->second, number);
    }
  }
  const auto expect = [&](const Query& query,
                          const std::vector<std::vector<WindowResult<std::uint64_t, Numbered>>>& rows) {
    Run(query);
    std::map<std::uint64_t, std::uint64_t> shown;
    for (const auto& row : Joined(rows)) {
      EXPECT_TRUE(shown.emplace(row.key, row.value.number).second) << "two rows of key " << row.key;
      EXPECT_EQ(row.value.key, row.key);
    }
    EXPECT_TRUE(SameElements(shown, expected));
  };
  std::vector<std::vector<WindowResult<std::uint64_t, Numbered>>> rows(executors());
  expect(*NumberedRecords()
              .KeyBy(&Numbered::key)
              .Reduce([](Numbered& all, const Numbered& next) { MixIn(all.number, next); })
              .To(Collect(rows)),
         rows);
  std::vector<std::vector<WindowResult<std::uint64_t, Numbered>>> returned(executors());
  expect(*NumberedRecords()
              .KeyBy(&Numbered::key)
              .Reduce([](const Numbered& all, const Numbered& next) {
                return Numbered{.key = all.key, .reader = next.reader, .number = MixedWith(all.number, next)};
              })
              .To(Collect(returned)),
         returned);
}

TEST_P(Folds, RecordsOfAnExecutorAreFoldedInTheirOrder) {
  std::vector<std::vector<WindowResult<std::uint64_t, Order>>> rows(executors());
  Run(*NumberedRecords()
           .KeyBy([](const Numbered& record) { return record.number % 5; })  // which all executors share
           .Fold(Order{}, &NoteOrder)
           .To(Collect(rows)));
  const auto all = Joined(rows);
  EXPECT_EQ(all.size(), 5U);
  for (const auto& row : all) {
    EXPECT_EQ(row.value.records, executors() * kNumbered / 5);
    EXPECT_EQ(row.value.disorder, 0U);
  }
}

TEST_P(Folds, WithoutAKeyExecutorZeroHasTheStateOfAllRecords) {
  const auto records = NumberedRecords();
  std::vector<std::vector<Order>> scanned(executors());
  std::vector<std::vector<WindowResult<AllRecords, Order>>> folded(executors());
  std::vector<std::vector<WindowResult<AllRecords, Numbered>>> reduced(executors());
  Run(*Together(Stream(records).Scan(Order{}, &NoteOrder).To(Collect(scanned)),
                Stream(records).Fold(Order{}, &NoteOrder).To(Collect(folded)),
                Stream(records)
                    .Reduce([](Numbered& sum, const Numbered& next) { sum.number += next.number; })
                    .To(Collect(reduced))));
  const std::uint64_t count = executors() * kNumbered;
  ASSERT_EQ(scanned[0].size(), count);
  for (std::uint64_t i = 0; i < count; ++i) {
    EXPECT_EQ(scanned[0][i].records, i + 1);
    EXPECT_EQ(scanned[0][i].disorder, 0U);
  }
  ASSERT_EQ(folded[0].size(), 1U);
  EXPECT_EQ(folded[0][0].value.records, count);
  EXPECT_EQ(folded[0][0].value.disorder, 0U);
  ASSERT_EQ(reduced[0].size(), 1U);
  EXPECT_EQ(reduced[0][0].value.number, executors() * kNumbered * (kNumbered - 1) / 2);
  for (std::uint32_t executor = 1; executor < executors(); ++executor) {
    EXPECT_TRUE(scanned[executor].empty() && folded[executor].empty() && reduced[executor].empty());
  }
}

TEST_P(Folds, AnEmptyStreamHasNoRows) {
  std::vector<std::vector<WindowResult<AllRecords, std::uint64_t>>> rows(executors());
  Run(*FromRange(5, 5)
           .Fold(std::uint64_t{3}, [](std::uint64_t sum, std::uint64_t n) { return sum + n; })
           .To(Collect(rows)));
  EXPECT_TRUE(Joined(rows).empty());
}

TEST_P(Folds, RowsOfAFoldAreAggregatedAndFoldedAgain) {
  const auto counts = From(TestSource(workload()))
                          .KeyBy(&TestRecord::key)
                          .Fold(std::uint64_t{0}, [](std::uint64_t& count, const TestRecord&) { ++count; });
  const auto by_last_digit = [](const TestRow& row) { return row.key % 10; };
  std::vector<std::vector<WindowResult<std::uint64_t, absl::int128>>> sums(executors());
  std::vector<std::vector<TestRow>> folded(executors());
  std::vector<std::vector<TestRow>> timed(executors());
  ClusterOutcome outcome = Run(*Together(
      Stream(counts).KeyBy(by_last_digit).Aggregate(Sum{&TestRow::value}).To(Collect(sums)),
      Stream(counts)
          .KeyBy(by_last_digit)
          .Fold(std::uint64_t{0}, [](std::uint64_t sum, const TestRow& row) { return sum + row.value; })
          .To(Collect(folded)),
      Stream(counts)
          .WithEventTime([](const TestRow& row) { return static_cast<std::int64_t>(row.key); }, absl::Seconds(1))
          .KeyBy(&TestRow::key)
          .Window(Tumbling{absl::Milliseconds(10)})
          .Aggregate(Max{&TestRow::value})
          .To(Collect(timed))));
  std::map<std::uint64_t, absl::int128> expected;
  TestCounts expected_timed;
  ForEachTestRecord([&](const TestRecord& record) {
    ++expected[record.key % 10];
    ++expected_timed[{static_cast<std::int64_t>(record.key / 10 * 10), record.key}];
  });
  std::map<std::uint64_t, absl::int128> shown;
  for (const auto& row : Joined(sums)) shown[row.key] += row.value;
  EXPECT_TRUE(SameElements(shown, expected));
  std::map<std::uint64_t, absl::int128> shown_folds;
  for (const TestRow& row : Joined(folded)) shown_folds[row.key] += row.value;
  EXPECT_TRUE(SameElements(shown_folds, expected));
  CollectOutcome(timed, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected_timed));
}

/// While all sources are idle, so is what they make. Rows come all the same.
TEST_P(Folds, RowsComeBehindSourcesThatHaveFallenIdle) {
  Workload silent = workload();
  silent.records = 2'000;
  silent.idle_timeout_ns = 10'000'000;
  std::vector<std::vector<TestRow>> rows(executors());
  const auto query = From(TestSource(silent, {.blocks = 2, .silent_after = 1'500, .silent_ns = 60'000'000}))
                         .KeyBy(&TestRecord::key)
                         .Fold(std::uint64_t{0}, [](std::uint64_t& count, const TestRecord&) { ++count; })
                         .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(silent, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_GT(Total(outcome, &ExecutorMetrics::idle_periods), 0U) << "or this tests little";
  std::uint64_t counted = 0;
  for (const TestRow& row : Joined(rows)) counted += row.value;
  EXPECT_EQ(counted, executors() * 1'500);
}

TEST_P(Folds, FoldAssocAndReduceAssocNeedNoExchange) {
  const auto count = [](std::uint64_t& n, const TestRecord&) { ++n; };
  const auto add = [](std::uint64_t& n, std::uint64_t other) { n += other; };
  const auto greater = [](const std::uint64_t& a, const std::uint64_t& b) { return std::max(a, b); };
  const auto records = From(TestSource(workload()));
  std::vector<std::vector<TestRow>> counts(executors());
  std::vector<std::vector<WindowResult<AllRecords, std::uint64_t>>> all(executors());
  std::vector<std::vector<TestRow>> greatest(executors());
  std::vector<std::vector<WindowResult<AllRecords, std::uint64_t>>> greatest_of_all(executors());
  const auto keys = [](const TestRecord& record) { return record.key; };
  const auto digit = [](std::uint64_t key) { return key % 10; };
  const ClusterOutcome outcome =
      Run(*Together(Stream(records).KeyBy(&TestRecord::key).FoldAssoc(std::uint64_t{0}, count, add).To(Collect(counts)),
                    Stream(records).FoldAssoc(std::uint64_t{0}, count, add).To(Collect(all)),
                    Stream(records).Map(keys).KeyBy(digit).ReduceAssoc(greater).To(Collect(greatest)),
                    Stream(records).Map(keys).ReduceAssoc(greater).To(Collect(greatest_of_all))));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::exchanged_records), 0U);
  std::map<std::uint64_t, std::uint64_t> expected;
  std::map<std::uint64_t, std::uint64_t> expected_greatest;
  ForEachTestRecord([&](const TestRecord& record) {
    ++expected[record.key];
    auto& most = expected_greatest[record.key % 10];
    most = std::max(most, record.key);
  });
  const auto by_key = [](const auto& rows) {
    std::map<std::uint64_t, std::uint64_t> values;
    for (const TestRow& row : Joined(rows)) values[row.key] += row.value;
    return values;
  };
  EXPECT_TRUE(SameElements(by_key(counts), expected));
  EXPECT_TRUE(SameElements(by_key(greatest), expected_greatest));
  ASSERT_EQ(Joined(all).size(), 1U);
  EXPECT_EQ(Joined(all)[0].value, executors() * workload().records);
  ASSERT_EQ(Joined(greatest_of_all).size(), 1U);
  EXPECT_EQ(Joined(greatest_of_all)[0].value, expected.rbegin()->first);
}

}  // namespace
}  // namespace glaive::engine

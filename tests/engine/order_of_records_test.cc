// Reorder, Zip and Unique: operators that depend on the order in which records come.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/stream.h"
#include "engine/api/zip.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/disordered_source.h"
#include "tests/engine/text_words.h"
#include "tests/engine/typed_keys.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

class OrderOfRecords : public OnEachShape {
 protected:
  Workload workload() const override {
    Workload workload = OnEachShape::workload();
    workload.records = 4'000;
    workload.keys = 30;
    return workload;
  }
};

TEST_P(OrderOfRecords, ReorderSortsTheRecordsOfAnExecutor) {
  const Disorder disorder{.range_ms = 300, .bound_ms = 300};
  std::vector<std::vector<TestRecord>> rows(executors());
  Run(*From(DisorderedRecords(workload(), disorder)).Reorder().To(Collect(rows)));
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    EXPECT_TRUE(std::ranges::is_sorted(rows[executor], {}, &TestRecord::event_time_ms)) << executor;
    std::multiset<std::pair<std::uint64_t, std::int64_t>> found;
    for (const TestRecord& record : rows[executor]) found.emplace(record.key, record.event_time_ms);
    std::multiset<std::pair<std::uint64_t, std::int64_t>> expected;
    std::uint64_t number = 0;
    ForEachRecord(workload(), disorder, [&](const TestRecord& record, std::int64_t) {
      if (number++ / workload().records == executor) expected.emplace(record.key, record.event_time_ms);
    });
    EXPECT_TRUE(SameElements(found, expected)) << executor;
  }
}

TEST_P(OrderOfRecords, ReorderBehindAKeySortsTheRecordsOfEachKeyWhoeverReadThem) {
  const Disorder disorder{.range_ms = 300, .bound_ms = 300};
  std::vector<std::vector<NumberedResult<std::uint64_t, std::int64_t>>> rows(executors());
  const auto out_of_order = [](std::uint64_t, NumberedWindow, std::span<const TestRecord> records) {
    std::int64_t count = 0;
    for (std::size_t i = 1; i < records.size(); ++i) {
      count += records[i].event_time_ms < records[i - 1].event_time_ms ? 1 : 0;
    }
    return count;
  };
  Run(*From(DisorderedRecords(workload(), disorder))
           .KeyBy(&TestRecord::key)
           .Reorder()
           .Window(CountWindow{.size = 1'000'000})
           .Process(out_of_order)
           .To(Collect(rows)));
  std::uint64_t records = 0;
  std::set<std::uint64_t> keys;
  for (const auto& leader : rows) {
    for (const auto& row : leader) {
      EXPECT_EQ(row.value, 0) << "key " << row.key;
      records += row.records;
      EXPECT_TRUE(keys.insert(row.key).second);
    }
  }
  EXPECT_EQ(records, executors() * workload().records);
}

TEST_P(OrderOfRecords, ReorderCopiesTheTextsOfRecordsThatWait) {
  std::vector<std::vector<Word>> rows(executors());
  CollectedTexts texts(executors());
  Run(*Words(workload())
           .WithEventTime([](const Word& word) { return (word.time_ms / 512 + 1) * 512 - word.time_ms % 512; },
                          absl::Milliseconds(1024))
           .Reorder()
           .To(Collect(rows, texts)));
  std::multiset<std::pair<std::int64_t, std::string>> found;
  for (const auto& each : rows) {
    for (const Word& word : each) found.emplace(word.time_ms, word.text.view());
  }
  std::multiset<std::pair<std::int64_t, std::string>> expected;
  for (const Word& word : AllWords(workload())) expected.emplace(word.time_ms, word.text.view());
  EXPECT_TRUE(SameElements(found, expected));
}

TEST_P(OrderOfRecords, UniqueLetsTheFirstRecordOfAKeyThrough) {
  std::vector<std::vector<TestRecord>> by_key(executors());
  std::vector<std::vector<std::uint64_t>> whole(executors());
  Run(*From(TestSource(workload())).KeyBy(&TestRecord::key).Unique().To(Collect(by_key)));
  Run(*From(TestSource(workload()))
           .Map([](const TestRecord& record) { return record.key % 17; })
           .Unique()
           .To(Collect(whole)));
  std::multiset<std::uint64_t> keys;
  std::multiset<std::uint64_t> values;
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    for (const TestRecord& record : by_key[executor]) keys.insert(record.key);
    values.insert(whole[executor].begin(), whole[executor].end());
  }
  std::multiset<std::uint64_t> all_keys;
  for (std::uint64_t key = 0; key < workload().keys; ++key) all_keys.insert(key);
  std::multiset<std::uint64_t> all_values;
  for (std::uint64_t value = 0; value < 17; ++value) all_values.insert(value);
  EXPECT_EQ(keys, all_keys);
  EXPECT_EQ(values, all_values);
}

/// Numbers of one executor, so that their order is known.
auto NumbersOfOne(std::uint64_t count, std::uint64_t factor) {
  return FromParallel([=](const SourceContext& context) {
    return
        [=, has_any = Value(context.executor) == 0, next = std::uint64_t{0}]() mutable -> std::optional<std::uint64_t> {
          return has_any && next < count ? std::optional(factor * next++) : std::nullopt;
        };
  });
}

TEST_P(OrderOfRecords, ZipPairsTheRecordsInTheirOrder) {
  std::vector<std::vector<Zipped<std::uint64_t, Text>>> rows(executors());
  CollectedTexts texts(executors());
  const auto word_of = [](std::uint64_t number) { return KeyOf<Text>(number % 3'000); };
  Run(*Zip(NumbersOfOne(5'000, 3), NumbersOfOne(7'000, 1).FlatMap([=](std::uint64_t number) {
         return std::vector<Text>{word_of(number)};
       })).To(Collect(rows, texts)));
  ASSERT_EQ(rows[0].size(), 5'000U) << "what the longer stream has beyond the shorter one makes no pair";
  for (std::uint64_t i = 0; i < rows[0].size(); ++i) {
    ASSERT_EQ(rows[0][i].first, 3 * i);
    ASSERT_EQ(rows[0][i].second, word_of(i));
  }
  for (std::uint32_t executor = 1; executor < executors(); ++executor) EXPECT_TRUE(rows[executor].empty());
}

TEST_P(OrderOfRecords, ZipPairsAllRecordsOfStreamsOfSeveralExecutors) {
  std::vector<std::vector<Zipped<TestRecord, std::uint64_t>>> rows(executors());
  Run(*Zip(From(TestSource(workload())), FromRange(0, executors() * workload().records)).To(Collect(rows)));
  std::set<std::uint64_t> numbers;
  std::multiset<std::pair<std::uint64_t, std::int64_t>> records;
  for (const auto& row : rows[0]) {
    numbers.insert(row.second);
    records.emplace(row.first.key, row.first.event_time_ms);
  }
  std::multiset<std::pair<std::uint64_t, std::int64_t>> expected;
  ForEachTestRecord([&](const TestRecord& record) { expected.emplace(record.key, record.event_time_ms); });
  EXPECT_EQ(numbers.size(), expected.size());
  EXPECT_TRUE(SameElements(records, expected));
}

GLAIVE_ON_EACH_SHAPE(OrderOfRecords);

TEST(ReorderTest, ALateRecordGoesOnAtOnce) {
  constexpr std::uint64_t kNumbers = 100'000;  // several batches
  const auto numbers = FromRange(0, kNumbers)
                           .Map([](std::uint64_t number) { return number == kNumbers - 1 ? std::uint64_t{5} : number; })
                           .WithEventTime([](std::uint64_t number) { return static_cast<std::int64_t>(number); });
  std::vector<std::vector<std::uint64_t>> rows(1);
  ClusterOutcome outcome;
  ASSERT_TRUE(RunNodes(Workload{}, *Stream(numbers).Reorder().To(Collect(rows)), outcome.metrics).ok());
  EXPECT_EQ(rows[0].size(), kNumbers);
  EXPECT_EQ(std::ranges::count(rows[0], 5U), 2);
  EXPECT_FALSE(std::ranges::is_sorted(rows[0]));
}

TEST(ReorderTest, RecordsBeyondTheBudgetEndTheRunWithTheirNumber) {
  Workload workload{.records = 400'000};
  workload.state_limit_bytes = 4 << 20;
  ClusterOutcome outcome;
  const absl::Status status = RunNodes(
      workload, *From(DisorderedRecords(workload, {.bound_ms = 1'000'000})).Reorder().To(Discard{}), outcome.metrics);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Reorder() stores "));
}

TEST(ZipTest, RecordsBeyondTheBudgetEndTheRunWithTheirNumber) {
  Workload workload{.records = 400'000};
  workload.state_limit_bytes = 4 << 20;
  ClusterOutcome outcome;
  const absl::Status status =
      RunNodes(workload, *Zip(From(TestSource(workload)), FromRange(0, 1)).To(Discard{}), outcome.metrics);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Zip() stores "));
}

}  // namespace
}  // namespace glaive::engine

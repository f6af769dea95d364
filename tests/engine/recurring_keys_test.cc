// Tumbling windows whose keys come again and again, few of them and more than fit the cache: what a slice's cells hold
// is what a map of the records in time holds.

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "tests/engine/disordered_source.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

std::int64_t Number(const TestRecord& record) {
  return record.event_time_ms * 31 - static_cast<std::int64_t>(record.kind) * 977;
}

using Aggregates = std::tuple<std::uint64_t, absl::int128, std::int64_t, std::int64_t>;  // count, sum, least, greatest
using Row = WindowResult<std::uint64_t, Aggregates>;
using Group = std::pair<std::int64_t, std::uint64_t>;  // window start and key

struct Expected {
  std::map<Group, Aggregates> rows;
  std::uint64_t in_time = 0;
  std::uint64_t late = 0;
};

Expected InTime(const Workload& workload, const Disorder& disorder) {
  Expected expected;
  ForEachRecord(workload, disorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    std::int64_t start_ms = record.event_time_ms / workload.window_ms * workload.window_ms;
    start_ms -= record.event_time_ms < 0 ? workload.window_ms : 0;  // none of them is a multiple
    if (start_ms + workload.window_ms <= watermark_ms) {
      ++expected.late;
      return;
    }
    ++expected.in_time;
    const std::int64_t number = Number(record);
    const auto found = expected.rows.try_emplace({start_ms, record.key}, 0, 0, number, number).first;
    auto& [count, sum, least, greatest] = found->second;
    ++count;
    sum += number;
    least = std::min(least, number);
    greatest = std::max(greatest, number);
  });
  return expected;
}

/// What the leaders have emitted, no row of it twice.
template <typename Value>
std::map<Group, Value> Emitted(const std::vector<std::vector<WindowResult<std::uint64_t, Value>>>& rows) {
  std::map<Group, Value> emitted;
  for (const auto& leader : rows) {
    for (const auto& row : leader) {
      EXPECT_TRUE(emitted.emplace(Group{row.window_start_ms, row.key}, row.value).second) << "a row twice";
    }
  }
  return emitted;
}

/// Runs the query over `records`, a stream with or without steps that the key depends on.
template <typename Records>
void ExpectRows(const Workload& workload, const Expected& expected, Records records) {
  std::vector<std::vector<Row>> rows(workload.executor_count());
  const std::unique_ptr<Query> query = std::move(records)
                                           .KeyBy([](const TestRecord& record) { return record.key; })
                                           .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
                                           .Aggregate(Several{Count{}, Sum{&Number}, Min{&Number}, Max{&Number}})
                                           .To(Collect(rows));
  std::vector<ExecutorMetrics> metrics;
  const absl::Status status = RunNodes(workload, *query, metrics);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(SameElements(Emitted(rows), expected.rows));
  std::uint64_t accepted = 0;
  std::uint64_t late = 0;
  for (const ExecutorMetrics& executor : metrics) {
    accepted += executor.records_accepted;
    late += executor.late_records;
  }
  EXPECT_EQ(accepted, expected.in_time);
  EXPECT_EQ(late, expected.late);
}

TEST(RecurringKeys, HaveTheRowsOfTheRecordsInTime) {
  constexpr Disorder kDisorder{.range_ms = 500, .bound_ms = 300};
  constexpr auto kManyKeys = static_cast<std::uint64_t>(kSanitized ? 12'000 : 24'000);
  constexpr std::array kWorkloads = {std::pair(1U, std::uint64_t{200}), std::pair(1U, kManyKeys),
                                     std::pair(2U, kManyKeys)};
  for (const auto& [executors, keys] : kWorkloads) {
    SCOPED_TRACE(testing::Message() << executors << " executors, " << keys << " keys");
    const Workload workload{.executors = executors, .records = 30 * keys / executors, .keys = keys, .span_ms = 3'000};
    const Expected expected = InTime(workload, kDisorder);
    ASSERT_GT(expected.late, 0U);
    ExpectRows(workload, expected, From(DisorderedRecords(workload, kDisorder)));
    ExpectRows(workload, expected, From(DisorderedRecords(workload, kDisorder)).Map([](const TestRecord& record) {
      return TestRecord{record};
    }));
    ExpectRows(workload, expected,
               From(DisorderedRecords(workload, kDisorder)).Filter([](const TestRecord&) { return true; }));
  }
}

// Floats whose sum a double holds for most keys, and for some does not: what those add up to is in the log beside their
// cells, or in logs alone where there are too many of them.
TEST(RecurringKeys, HaveTheExactSumsOfFloats) {
  using FloatRow = WindowResult<std::uint64_t, double>;
  constexpr std::uint64_t kFloats = kSanitized ? 300'000 : 1'200'000;
  for (const auto& [executors, stride] : {std::pair(1U, 500U), std::pair(1U, 5U), std::pair(2U, 500U)}) {
    SCOPED_TRACE(testing::Message() << executors << " executors, every key " << stride);
    const Workload workload{
        .executors = executors, .records = kFloats / executors, .keys = kFloats / 10, .span_ms = 4'000};
    constexpr Disorder kLongBatches{.batch_records = 337};  // of several steps
    // Of such keys, some kinds of records have a number that makes the sum need some 60 bits.
    const auto number = [every = stride](const TestRecord& record) {
      const std::int64_t small = Number(record) % 4096 * 2 + 1;
      return record.key % every == 0 && record.kind != 0 ? small * (std::int64_t{1} << 46) : small;
    };
    std::map<Group, std::int64_t> sums;
    ForEachRecord(workload, kLongBatches, [&](const TestRecord& record, std::int64_t /*watermark_ms*/) {
      sums[{record.event_time_ms / workload.window_ms * workload.window_ms, record.key}] += number(record);
    });
    std::vector<std::vector<FloatRow>> rows(workload.executor_count());
    const std::unique_ptr<Query> query =
        From(DisorderedRecords(workload, kLongBatches))
            .KeyBy([](const TestRecord& record) { return record.key; })
            .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
            .Aggregate(Sum{[number](const TestRecord& record) { return static_cast<float>(number(record)); }})
            .To(Collect(rows));
    std::vector<ExecutorMetrics> metrics;
    const absl::Status status = RunNodes(workload, *query, metrics);
    ASSERT_TRUE(status.ok()) << status;
    std::map<Group, double> expected;
    for (const auto& [group, sum] : sums) {
      expected.emplace(group, static_cast<double>(sum));
    }
    EXPECT_TRUE(SameElements(Emitted(rows), expected));
  }
}

/// Counts 2^18 keys that are multiples of `stride`. Returns the processor time of the run.
absl::Duration TimeOfCountsAt(std::uint64_t stride, std::uint32_t executors) {
  const Workload workload{
      .executors = executors, .records = 300'000 / executors, .keys = std::uint64_t{1} << 18, .span_ms = 1'000};
  std::map<Group, std::uint64_t> counts;
  ForEachRecord(workload, {}, [&](const TestRecord& record, std::int64_t /*watermark_ms*/) {
    ++counts[{record.event_time_ms / workload.window_ms * workload.window_ms, record.key * stride}];
  });
  std::vector<std::vector<TestRow>> rows(workload.executor_count());
  const std::unique_ptr<Query> query = From(DisorderedRecords(workload, {}))
                                           .KeyBy([stride](const TestRecord& record) { return record.key * stride; })
                                           .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
                                           .Aggregate(Count{})
                                           .To(Collect(rows));
  std::vector<ExecutorMetrics> metrics;
  const std::clock_t begin = std::clock();
  const absl::Status status = RunNodes(workload, *query, metrics);
  const std::clock_t end = std::clock();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(SameElements(Emitted(rows), counts));
  return absl::Seconds(static_cast<double>(end - begin) / CLOCKS_PER_SEC);
}

// Multiples of a Fibonacci number: one fixed multiplication, with the golden ratio, would bring them together in few
// buckets, and a run would take as long as it has keys in each.
TEST(RecurringKeysTiming, IsThatOfNeighbouringKeysAtAStrideThatAFixedMultiplicationGathers) {
  for (const std::uint32_t executors : {1U, 2U}) {
    SCOPED_TRACE(testing::Message() << executors << " executors");
    const absl::Duration neighbours = TimeOfCountsAt(1, executors);
    EXPECT_LT(TimeOfCountsAt(2'971'215'073, executors), 3 * neighbours + absl::Milliseconds(100)) << neighbours;
  }
}

}  // namespace
}  // namespace glaive::engine

// All aggregates at once over a cluster, against the same computed from a list of each key's records.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "engine/api/stream.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_harness.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using Group = std::pair<std::int64_t, std::uint64_t>;  // window start, key

std::int64_t Number(const TestRecord& record) {
  return record.event_time_ms % 97 * 31 + static_cast<std::int64_t>(record.kind) - 1500;
}
// Eighths: their sums and squares are exact in a double, so the oracle may simply add.
double Eighths(const TestRecord& record) { return static_cast<double>(Number(record)) / 8; }
float FloatEighths(const TestRecord& record) { return static_cast<float>(Eighths(record)); }

auto EveryAggregate() {
  return Several{Count{},
                 Sum{&Number},
                 Sum{&FloatEighths},
                 Min{&Number},
                 Max{&Number},
                 Mean{&FloatEighths},
                 Variance{&Eighths},
                 First{&TestRecord::event_time_ms, &Number},
                 Last{&TestRecord::event_time_ms, &Number},
                 TopK<3>(&Number)};
}

using EveryValue = decltype(EveryAggregate())::Value<TestRecord>;
using EveryResult = decltype(std::declval<const EveryValue&>().Result());
using EveryRow = WindowResult<std::uint64_t, EveryResult>;

EveryResult ExpectedResult(const std::vector<TestRecord>& records) {
  std::vector<std::int64_t> numbers;
  double sum = 0;
  double squares = 0;
  const auto earlier = [](const TestRecord& a, const TestRecord& b) {
    return std::pair(a.event_time_ms, Number(a)) < std::pair(b.event_time_ms, Number(b));
  };
  for (const TestRecord& record : records) {
    numbers.push_back(Number(record));
    sum += Eighths(record);
    squares += Eighths(record) * Eighths(record);
  }
  std::sort(numbers.begin(), numbers.end(), std::greater<>());
  const auto count = static_cast<double>(records.size());
  const auto [first, last] = std::minmax_element(records.begin(), records.end(), earlier);
  std::vector<std::int64_t> top(numbers.begin(), numbers.begin() + std::min<std::ptrdiff_t>(3, std::ssize(numbers)));
  return {records.size(),
          absl::int128(static_cast<std::int64_t>(sum * 8)),
          sum,
          numbers.back(),
          numbers.front(),
          sum / count,
          (count * squares - sum * sum) / (count * count),
          Number(*first),
          Number(*last),
          top};
}

TEST(Aggregates, AreAllExactInOnePassOverACluster) {
  const Workload workload{.nodes = 2, .executors = 2, .records = 4'000, .keys = 300, .slot_bytes = 4096};
  std::map<Group, std::vector<TestRecord>> groups;
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    for (std::uint64_t number = 0; number < workload.records; ++number) {
      const TestRecord record = MakeRecord(workload, executor, number);
      groups[{record.event_time_ms / workload.window_ms * workload.window_ms, record.key}].push_back(record);
    }
  }
  std::vector<std::vector<EveryRow>> rows(workload.executor_count());
  const std::unique_ptr<Query> query = From(TestSource(workload))
                                           .KeyBy(&TestRecord::key)
                                           .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
                                           .Aggregate(EveryAggregate())
                                           .To(Collect(rows));
  std::vector<ExecutorMetrics> metrics;
  const absl::Status status = RunNodes(workload, *query, metrics);
  ASSERT_TRUE(status.ok()) << status;
  std::vector<std::pair<Group, EveryResult>> expected;
  for (const auto& [group, records] : groups) expected.emplace_back(group, ExpectedResult(records));
  std::vector<std::pair<Group, EveryResult>> found;
  for (const auto& leader : rows) {
    for (const EveryRow& row : leader) found.emplace_back(Group(row.window_start_ms, row.key), row.value);
  }
  EXPECT_TRUE(SameElements(found, expected));
}

}  // namespace
}  // namespace glaive::engine

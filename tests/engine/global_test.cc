// Aggregates over all records, without a key, against plain loops: every kind of window, with late records.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "engine/api/stream.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/disordered_source.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

constexpr Disorder kDisorder{.range_ms = 2'000, .bound_ms = 200};

using GlobalRow = WindowResult<AllRecords, std::uint64_t>;
using Counts = std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t>;  // {window start, end} -> count

struct Expected {
  Counts counts;
  std::uint64_t late = 0;
};

Expected Regular(const Workload& workload, std::int64_t size_ms, std::int64_t slide_ms) {
  Expected expected;
  ForEachRecord(workload, kDisorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    bool late = true;
    for (std::int64_t start_ms = -100 * slide_ms; start_ms <= record.event_time_ms; start_ms += slide_ms) {
      const std::int64_t end_ms = start_ms + size_ms;
      if (end_ms > record.event_time_ms && end_ms > watermark_ms) {
        ++expected.counts[{start_ms, end_ms}];
        late = false;
      }
    }
    expected.late += late ? 1 : 0;
  });
  return expected;
}

Expected SessionWindows(const Workload& workload, std::int64_t gap_ms) {
  Expected expected;
  std::vector<std::int64_t> times_ms;
  ForEachRecord(workload, kDisorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    const bool late = record.event_time_ms < watermark_ms;
    expected.late += late ? 1 : 0;
    if (!late) times_ms.push_back(record.event_time_ms);
  });
  std::sort(times_ms.begin(), times_ms.end());
  for (std::size_t first = 0, next = 0; first < times_ms.size(); first = next) {
    for (next = first + 1; next < times_ms.size() && times_ms[next] - times_ms[next - 1] < gap_ms;) ++next;
    expected.counts[{times_ms[first], times_ms[next - 1] + gap_ms}] = next - first;
  }
  return expected;
}

template <typename W>
void ExpectCounts(const Workload& workload, const W& window, const Expected& expected) {
  SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors));
  std::vector<std::vector<GlobalRow>> rows(workload.executor_count());
  const std::unique_ptr<Query> query =
      From(DisorderedRecords(workload, kDisorder)).Window(window).Aggregate(Count{}).To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  Counts counts;
  for (const auto& leader : rows) {
    for (const GlobalRow& row : leader) {
      EXPECT_TRUE(counts.emplace(std::pair(row.window_start_ms, row.window_end_ms), row.value).second);
    }
  }
  EXPECT_TRUE(SameElements(counts, expected.counts));
  EXPECT_GT(counts.size(), 3U);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), expected.late);
  EXPECT_GT(expected.late, 0U);
}

TEST(GlobalAggregates, CountAllRecordsOfATumblingWindow) {
  for (const Workload& workload : DisorderedWorkloads(60)) {
    ExpectCounts(workload, Tumbling{absl::Milliseconds(500)}, Regular(workload, 500, 500));
  }
}

TEST(GlobalAggregates, CountAllRecordsOfASlidingWindow) {
  for (const Workload& workload : DisorderedWorkloads(60)) {
    ExpectCounts(workload, Sliding{absl::Milliseconds(700), absl::Milliseconds(300)}, Regular(workload, 700, 300));
  }
}

TEST(GlobalAggregates, CountAllRecordsOfASession) {
  for (Workload workload : DisorderedWorkloads(60)) {
    workload.records = 200;  // 100 ms apart
    ExpectCounts(workload, Session{absl::Milliseconds(60)}, SessionWindows(workload, 60));
  }
}

}  // namespace
}  // namespace glaive::engine

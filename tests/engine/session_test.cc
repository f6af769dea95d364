// Session windows over a cluster, with records out of order and late ones, against each key's sorted times.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
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

struct SessionShape {
  std::int64_t gap_ms;
  Disorder disorder = {};
  std::int64_t lateness_ms = 0;  // allowed
  std::uint64_t keys = 40;
};

using Sessions = std::map<std::tuple<std::uint64_t, std::int64_t, std::int64_t>, std::uint64_t>;  // key, start, end

struct ExpectedSessions {
  Sessions sessions;
  std::uint64_t late = 0;
};

ExpectedSessions Sequential(const Workload& workload, const SessionShape& shape) {
  ExpectedSessions expected;
  std::map<std::uint64_t, std::vector<std::int64_t>> times;  // by key
  ForEachRecord(workload, shape.disorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    if (record.kind != 0) return;
    if (record.event_time_ms < AfterLateness(watermark_ms, shape.lateness_ms)) {
      ++expected.late;
    } else {
      times[record.key].push_back(record.event_time_ms);
    }
  });
  for (auto& [key, of_key] : times) {
    std::sort(of_key.begin(), of_key.end());
    for (std::size_t first = 0, next = 0; first < of_key.size(); first = next) {
      for (next = first + 1; next < of_key.size() && of_key[next] - of_key[next - 1] < shape.gap_ms;) ++next;
      expected.sessions[{key, of_key[first], of_key[next - 1] + shape.gap_ms}] = next - first;
    }
  }
  return expected;
}

class SessionCluster : public ::testing::TestWithParam<SessionShape> {};

TEST_P(SessionCluster, FindsExactlyTheSessionsOnEveryNumberOfNodes) {
  const SessionShape& shape = GetParam();
  for (const Workload& workload : DisorderedWorkloads(shape.keys)) {
    SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors));
    const ExpectedSessions expected = Sequential(workload, shape);
    std::vector<std::vector<TestRow>> rows(workload.executor_count());
    const std::unique_ptr<Query> query = From(DisorderedRecords(workload, shape.disorder))
                                             .Filter([](const TestRecord& record) { return record.kind == 0; })
                                             .KeyBy(&TestRecord::key)
                                             .Window(Session{absl::Milliseconds(shape.gap_ms)})
                                             .AllowedLateness(absl::Milliseconds(shape.lateness_ms))
                                             .Aggregate(Count{})
                                             .To(Collect(rows));
    ClusterOutcome outcome;
    outcome.status = RunNodes(workload, *query, outcome.metrics);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    Sessions found;
    for (const auto& leader : rows) {
      for (const TestRow& row : leader) {
        EXPECT_TRUE(found.emplace(std::tuple(row.key, row.window_start_ms, row.window_end_ms), row.value).second);
      }
    }
    EXPECT_TRUE(SameElements(found, expected.sessions));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), expected.late);
    EXPECT_EQ(expected.late > 0, shape.disorder.bound_ms + shape.lateness_ms < shape.disorder.range_ms);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::windows_fired), found.size());
    // Sessions of several records, of several slices, and more than one of a key: else this tests little.
    EXPECT_GT(found.size(), workload.keys);
    EXPECT_GT(Total(outcome, &ExecutorMetrics::slice_merges), 0U);
  }
}

std::string SessionName(const ::testing::TestParamInfo<SessionShape>& shape) {
  return absl::StrCat("Gap", shape.param.gap_ms, "Disorder", shape.param.disorder.range_ms, "Bound",
                      shape.param.disorder.bound_ms, "Lateness", shape.param.lateness_ms, "Keys", shape.param.keys);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SessionCluster,
                         ::testing::Values(SessionShape{300}, SessionShape{1000}, SessionShape{500, {700, 700}},
                                           SessionShape{500, {900, 200}}, SessionShape{300, {2000, 0}},
                                           SessionShape{400, {2000, 300}, 900}, SessionShape{300, {}, 0, 400},
                                           SessionShape{300, {900, 200}, 0, 400}),
                         SessionName);

}  // namespace
}  // namespace glaive::engine

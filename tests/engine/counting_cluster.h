// A count per key and tumbling window over a cluster, and the sequential run that it is compared with: one loop over
// the same records and a std::map, which knows nothing of the engine.
//
// RunCluster runs every node's executors on threads of their own; RunInOneThread runs all executors of one node in the
// calling thread, in an order drawn from a seed.
//
//   ClusterOutcome outcome = RunCluster({.nodes = 2, .executors = 2, .records = 10'000, .keys = 100});
//   ASSERT_TRUE(outcome.status.ok()) << outcome.status;
//   EXPECT_EQ(outcome.counts, SequentialCounts(outcome.workload));
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/api/stream.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_harness.h"

namespace glaive::engine {

/// The oracle: one loop and a std::map.
inline TestCounts SequentialCounts(const Workload& workload) {
  TestCounts counts;
  for (std::uint32_t reader = 0; reader < workload.roles().reader_count(); ++reader) {
    for (std::uint64_t number = 0; number < workload.records; ++number) {
      const TestRecord record = MakeRecord(workload, reader, number);
      if (record.kind == 0) {
        ++counts[{record.event_time_ms / workload.window_ms * workload.window_ms, record.key}];
      }
    }
  }
  return counts;
}

/// The query under test: filter, map, count per key and tumbling window.
inline std::unique_ptr<Query> MakeTestQuery(const Workload& workload, std::vector<std::vector<TestRow>>& rows) {
  struct OnlyKey {
    std::uint64_t key;
  };
  return From(TestSource(workload))
      .Filter([](const TestRecord& record) { return record.kind == 0; })
      .Map([](const TestRecord& record) { return OnlyKey{record.key}; })
      .KeyBy(&OnlyKey::key)
      .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
      .Aggregate(Count{})
      .To(Collect(rows));
}

/// Runs the test query on the workload's cluster.
inline ClusterOutcome RunCluster(const Workload& workload) {
  std::vector<std::vector<TestRow>> rows(workload.executor_count());
  const std::unique_ptr<Query> query = MakeTestQuery(workload, rows);
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  CollectOutcome(rows, outcome);
  return outcome;
}

/// Runs the test query on the workload's executors (one node) in this thread, in an order drawn from `order_seed`.
inline ClusterOutcome RunInOneThread(const Workload& workload, std::uint64_t order_seed) {
  std::vector<std::vector<TestRow>> rows(workload.executor_count());
  const std::unique_ptr<Query> query = MakeTestQuery(workload, rows);
  ClusterOutcome outcome;
  outcome.status = RunExecutors(workload, *query, order_seed, outcome.metrics);
  CollectOutcome(rows, outcome);
  return outcome;
}

}  // namespace glaive::engine

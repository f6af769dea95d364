// A whole cluster in one process, for tests: nodes that share nothing but memory files, each with its executors.
//
// RunNodes runs every node's executors on threads of their own, RunExecutors all executors of one node in the calling
// thread, in an order drawn from a seed; both with a query that the test brings.
//
//   const Workload workload{.nodes = 2, .executors = 2, .records = 10'000, .keys = 100};
//   const auto query = From(TestSource(workload)).KeyBy(&TestRecord::key)...
//   absl::Status status = RunNodes(workload, *query, metrics);
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "engine/api/stream.h"
#include "engine/cluster/node_run.h"
#include "engine/fiber/pick_policy.h"
#include "engine/sink/collect.h"
#include "engine/source/block_source.h"
#include "rdma/base/sanitizers.h"
#include "rdma/base/steady_clock.h"
#include "tests/rdma/test_device.h"

namespace glaive::engine {

/// In how many orders of work a test runs its executors, and how many records it takes for many. The preset dev runs
/// all tests in full; a sanitizer's code takes ten times as long, and what it looks for hardly depends on either
/// number.
inline constexpr std::uint64_t kOrders = kSanitized ? 1 : 4;
inline constexpr std::uint64_t kManyRecords = kSanitized ? 10'000 : 40'000;

/// A record of the test stream.
struct TestRecord {
  std::uint64_t key;
  std::int64_t event_time_ms;
  std::uint64_t kind;  // 0, 1 or 2; the query selects 0
};

/// The stream and the cluster that reads it.
struct Workload {
  std::uint32_t nodes = 1;
  std::uint32_t executors = 1;
  std::uint32_t partitioners = 0;  // of a node's executors, if it has any; else all read and lead
  bool feeds = false;              // half of the executors read, and stream what they read to the others
  std::uint64_t seed = 1;
  std::uint64_t records = 10'000;  // of each executor that reads
  std::uint64_t keys = 100;
  double hot_share = 0;           // of the records, that carry key 0
  std::int64_t span_ms = 10'000;  // of event time that the records cover
  std::int64_t window_ms = 1'000;
  std::uint64_t batch_records = 0;  // 0: the source's default
  std::uint32_t slot_bytes = 64 * 1024;
  std::uint32_t credits = 8;
  std::uint64_t fragment_bytes = 1 << 20;
  state::FoldOptions fold{};
  state::StateThresholds thresholds{};
  std::uint64_t state_limit_bytes = 1 << 30;  // of an executor
  std::uint64_t state_prefault_bytes = 0;
  EpochPolicy epochs{};
  std::int64_t max_lead_ms = 4'000;
  std::int64_t idle_timeout_ns = 0;
  const Clock* clock = nullptr;      // null: the steady one
  TurnObserver* observer = nullptr;  // of all executors
  bool over_verbs = false;           // between nodes, or with one node between its executors

  std::uint32_t executor_count() const { return nodes * executors; }
  Roles roles() const {
    return feeds ? Roles::Fed(executor_count(), executor_count()) : Roles::Of(nodes, executors, partitioners);
  }
};

using TestCounts = std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t>;  // {window start, key} -> count
using TestRow = WindowResult<std::uint64_t, std::uint64_t>;

/// What came out of a run.
struct ClusterOutcome {
  absl::Status status;
  TestCounts counts;       // of all leaders
  std::uint64_t rows = 0;  // more than counts.size() if a leader emitted a row twice
  std::vector<ExecutorMetrics> metrics;
};

/// A counter's sum over all executors.
inline std::uint64_t Total(const ClusterOutcome& outcome, std::uint64_t ExecutorMetrics::* counter) {
  return std::accumulate(outcome.metrics.begin(), outcome.metrics.end(), std::uint64_t{0},
                         [&](std::uint64_t sum, const ExecutorMetrics& metrics) { return sum + metrics.*counter; });
}

/// Record `number` of `executor`: a pure function of the seed.
inline TestRecord MakeRecord(const Workload& workload, std::uint32_t executor, std::uint64_t number) {
  std::uint64_t x = workload.seed * 0x9E3779B97F4A7C15ULL + executor * 0xBF58476D1CE4E5B9ULL + number;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  x ^= x >> 31;
  const bool hot = static_cast<double>((x >> 20) & 0xFFFF) < workload.hot_share * 65536.0;
  return {.key = hot ? 0 : (x >> 32) % workload.keys,
          .event_time_ms =
              static_cast<std::int64_t>(number) * workload.span_ms / static_cast<std::int64_t>(workload.records),
          .kind = x % 3};
}

inline constexpr auto kTestEventTime = [](const TestRecord& record) { return record.event_time_ms; };

/// How fast a source gives its records, how many times, and when it stops giving any.
struct SourcePace {
  std::uint64_t blocks = 1;       // the workload's records, repeated with later event times
  double records_per_second = 0;  // 0: as fast as they are read
  std::uint64_t silent_after = std::numeric_limits<std::uint64_t>::max();  // records of an executor
  std::int64_t silent_ns = 0;                                              // the stream ends behind the silence
};

/// The workload's records, for From().
inline auto TestSource(const Workload& workload, const SourcePace& pace = {}) {
  const auto open = [workload, pace](const SourceContext& context) {
    const auto generate = [&](std::uint64_t first, std::span<TestRecord> records) {
      for (std::size_t i = 0; i < records.size(); ++i) {
        records[i] = MakeRecord(workload, Value(context.executor), first + i);
      }
    };
    return BlockSource<TestRecord, decltype(kTestEventTime)>::Create({.block_records = workload.records,
                                                                      .total_records = pace.blocks * workload.records,
                                                                      .span_ms = workload.span_ms,
                                                                      .records_per_second = pace.records_per_second,
                                                                      .batch_records = workload.batch_records,
                                                                      .silent_after_records = pace.silent_after,
                                                                      .silent_ns = pace.silent_ns},
                                                                     *context.clock, generate, kTestEventTime);
  };
  return SourceSpec<TestRecord, decltype(kTestEventTime)>{.open = open, .event_time_ms = kTestEventTime};
}

/// What tells the run's messages from others', and its hash is drawn from.
inline std::uint64_t RunTokenOf(const Workload& workload) { return workload.seed + 77; }

inline ExecutorConfig MakeExecutorConfig(const Workload& workload, const Clock& steady_clock) {
  ExecutorConfig config;
  config.mesh.executors_per_node = workload.executors;
  config.mesh.executor_count = workload.executor_count();
  config.mesh.channel.slot_bytes = workload.slot_bytes;
  config.mesh.channel.credits = workload.credits;
  config.mesh.run_token = RunTokenOf(workload);
  if (workload.over_verbs) {
    config.mesh.device = rdma::OpenTestDevice();
    config.mesh.same_host = rdma::TransportKind::kVerbs;
    config.mesh.same_node = workload.nodes == 1 ? rdma::TransportKind::kVerbs : rdma::TransportKind::kLocal;
  }
  config.epoch_policy = workload.epochs;
  config.max_lead_ms = workload.max_lead_ms;
  config.idle_timeout_ns = workload.idle_timeout_ns;
  config.fragment_bytes = workload.fragment_bytes;
  config.roles = workload.roles();
  config.fold = workload.fold;
  config.thresholds = workload.thresholds;
  config.state_limit_bytes = workload.state_limit_bytes;
  config.state_prefault_bytes = workload.state_prefault_bytes;
  config.scheduler.observer = workload.observer;
  config.clock = workload.clock == nullptr ? &steady_clock : workload.clock;
  return config;
}

inline void CollectOutcome(const std::vector<std::vector<TestRow>>& rows, ClusterOutcome& outcome) {
  for (const auto& leader : rows) {
    for (const TestRow& row : leader) {
      outcome.counts[{row.window_start_ms, row.key}] += row.value;
      ++outcome.rows;
    }
  }
}

/// Runs a query on the workload's cluster, each executor on a thread of its own, nodes joined by shared memory or RDMA.
/// Adds the executors' metrics to `metrics`.
inline absl::Status RunNodes(const Workload& workload, const Query& query, std::vector<ExecutorMetrics>& metrics) {
  const SteadyClock clock;
  std::vector<std::unique_ptr<NodeRun>> nodes;
  std::vector<rdma::MeshDescriptor> descriptors;
  for (std::uint32_t node = 0; node < workload.nodes; ++node) {
    auto run = NodeRun::Create({.executor = MakeExecutorConfig(workload, clock), .node = NodeId{node}, .cpus = {}},
                               query, GoOn);
    if (!run.ok()) {
      return run.status();
    }
    for (const rdma::MeshDescriptor& descriptor : (*run)->descriptors()) {
      descriptors.push_back(descriptor);
    }
    nodes.push_back(*std::move(run));
  }
  absl::Status status;
  for (auto& node : nodes) {
    status.Update(node->Connect(descriptors, GoOn));
  }
  for (const auto poll : {&NodeRun::PollConnecting, &NodeRun::PollProbes}) {
    for (bool is_done = false; !is_done && status.ok();) {
      is_done = true;
      for (auto& node : nodes) {
        const absl::StatusOr<std::optional<NodeId>> missing = ((*node).*poll)(GoOn);
        status.Update(missing.status());
        is_done = is_done && missing.ok() && !missing->has_value();
      }
    }
  }
  for (auto& node : nodes) {
    status.Update(status.ok() ? node->Open(GoOn) : status);
  }
  std::optional<rdma::ExpectDeviceTraffic> traffic;
  if (workload.over_verbs && status.ok()) {
    // Every executor sends each other one its end, over verbs unless they share a node and there is another.
    const std::uint32_t near = workload.nodes == 1 ? 1 : workload.executors;
    traffic.emplace(workload.executor_count() * (workload.executor_count() - near));
  }
  std::vector<absl::Status> ends(nodes.size());
  std::vector<std::thread> mains;
  for (std::size_t i = 0; i < nodes.size() && status.ok(); ++i) {
    mains.emplace_back([&, i] { ends[i] = nodes[i]->Run(GoOn); });
  }
  for (std::thread& main : mains) {
    main.join();
  }
  for (const absl::Status& end : ends) {
    status.Update(end);
  }
  for (const auto& node : nodes) {
    status.Update(status.ok() ? node->Commit(GoOn) : status);
    for (const auto& executor : node->executors()) {
      metrics.push_back(executor->metrics());
    }
  }
  return status;
}

/// Runs a query on all executors of the workload (one node) in this thread: rounds and fibers in an order drawn from
/// `order_seed`. Adds the executors' metrics to `metrics`.
inline absl::Status RunExecutors(const Workload& workload, const Query& query, std::uint64_t order_seed,
                                 std::vector<ExecutorMetrics>& metrics) {
  const SteadyClock clock;
  std::vector<std::unique_ptr<RandomPickPolicy>> policies;
  std::vector<std::unique_ptr<Executor>> executors;
  std::vector<rdma::MeshDescriptor> descriptors;
  absl::Status status;
  for (std::uint32_t i = 0; i < workload.executor_count(); ++i) {
    policies.push_back(std::make_unique<RandomPickPolicy>(order_seed * 31 + i));
    ExecutorConfig config = MakeExecutorConfig(workload, clock);
    config.mesh.self = ExecutorId{i};
    config.scheduler.pick_policy = policies.back().get();
    auto executor = Executor::Create(config, query);
    if (!executor.ok()) {
      return executor.status();
    }
    descriptors.push_back((*executor)->descriptor());
    executors.push_back(*std::move(executor));
  }
  for (auto& executor : executors) {
    status.Update(executor->Connect(descriptors));
    status.Update(executor->Open(GoOn));
    if (status.ok()) {
      status = executor->Start();
    }
    if (!status.ok()) {
      return status;
    }
  }
  std::uint64_t x = order_seed | 1;
  while (std::any_of(executors.begin(), executors.end(), [](const auto& e) { return !e->done(); })) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    Executor& next = *executors[(x >> 33) % executors.size()];
    if (!next.done()) {
      next.RunRound();
    }
  }
  for (auto& executor : executors) {
    status.Update(executor->status());
    metrics.push_back(executor->metrics());
  }
  return status;
}

}  // namespace glaive::engine

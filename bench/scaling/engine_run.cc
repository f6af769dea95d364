#include "bench/scaling/engine_run.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "bench/scaling/processors.h"
#include "bench/scaling/query_of_executors.h"
#include "engine/cluster/node_run.h"
#include "rdma/base/processor_clock.h"
#include "rdma/base/steady_clock.h"

namespace glaive::bench {
namespace {

using queries::Totals;

constexpr std::uint64_t kStateBytes = std::uint64_t{12} << 30;  // of all executors
constexpr std::int64_t kLeadWindows = 4;

/// All nodes of a run, with their queries. Used by one thread.
class Cluster {
 public:
  explicit Cluster(const Deployment& deployment) : deployment_(deployment), totals_(deployment.executor_count()) {}

  absl::Status Create(const Workload& workload, std::uint64_t prefault_bytes) {
    const std::vector<int> processors = ProcessorsFor(deployment_.executor_count());
    for (std::uint32_t node = 0; node < deployment_.nodes; ++node) {
      queries_.push_back(BuildQuery(workload, node));
      engine::ExecutorConfig config;
      config.mesh.executors_per_node = deployment_.executors;
      config.mesh.executor_count = deployment_.executor_count();
      config.mesh.run_token = 1;
      config.roles = deployment_.roles();
      config.max_lead_ms = kLeadWindows * queries_.back()->window_ms();
      config.fragment_bytes = 1 << 20;
      config.state_limit_bytes = kStateBytes / deployment_.executor_count();
      config.state_prefault_bytes = prefault_bytes;
      config.clock = &clock_;
      std::vector<int> cpus;
      if (!processors.empty()) {
        const auto first = processors.begin() + node * deployment_.executors;
        cpus.assign(first, first + deployment_.executors);
      }
      auto run = engine::NodeRun::Create({.executor = config, .node = NodeId{node}, .cpus = std::move(cpus)},
                                         *queries_.back(), kNeverStop);
      if (!run.ok()) {
        return run.status();
      }
      nodes_.push_back(*std::move(run));
    }
    return absl::OkStatus();
  }

  absl::Status Connect() {
    std::vector<rdma::MeshDescriptor> descriptors;
    for (const auto& node : nodes_) {
      std::ranges::copy(node->descriptors(), std::back_inserter(descriptors));
    }
    absl::Status status;
    for (const auto& node : nodes_) {
      status.Update(node->Connect(descriptors, kNeverStop));
    }
    for (bool all_connected = false; !all_connected && status.ok();) {
      all_connected = true;
      for (const auto& node : nodes_) {
        const absl::StatusOr<std::optional<NodeId>> missing = node->PollConnecting(kNeverStop);
        status.Update(missing.status());
        all_connected = all_connected && missing.ok() && !missing->has_value();
      }
    }
    return status;
  }

  /// Has all nodes read or copy their input, and take their memory.
  absl::Status Open() {
    absl::Status status;
    for (const auto& node : nodes_) {
      status.Update(status.ok() ? node->Open(kNeverStop) : status);
    }
    return status;
  }

  absl::Status Run() {
    std::vector<absl::Status> ends(nodes_.size());
    std::vector<std::thread> mains;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      mains.emplace_back([&, i] { ends[i] = nodes_[i]->Run(kNeverStop); });
    }
    for (std::thread& main : mains) {
      main.join();
    }
    absl::Status status;
    for (const absl::Status& end : ends) {
      status.Update(end);
    }
    return status;
  }

  /// What the run took, but for the processors' time.
  Measurement Measure() const {
    Measurement result;
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_ns = 0;
    std::vector<const engine::LatencyHistogram*> latencies;
    for (const auto& node : nodes_) {
      for (const auto& executor : node->executors()) {
        const engine::ExecutorMetrics& metrics = executor->metrics();
        first_ns = std::min(first_ns, metrics.first_batch_ns);
        last_ns = std::max(last_ns, metrics.last_result_ns);
        latencies.push_back(&metrics.window_latency);
        result.records += metrics.records;
        result.latency.windows += metrics.window_latency.count();
        result.state_bytes = std::max(result.state_bytes, metrics.state_bytes);
        result.kept_tuples += metrics.kept_tuples;
        result.kept_tuple_bytes += metrics.kept_tuple_bytes;
      }
    }
    for (const Totals& totals : totals_) {
      result.totals.Merge(totals);
    }
    result.seconds = static_cast<double>(last_ns - first_ns) * 1e-9;
    result.latency.p50_ns = engine::PercentileNanos(latencies, 0.5);
    result.latency.p99_ns = engine::PercentileNanos(latencies, 0.99);
    return result;
  }

 private:
  static constexpr auto kNeverStop = [] { return absl::OkStatus(); };

  std::unique_ptr<engine::Query> BuildQuery(const Workload& workload, std::uint32_t node) {
    std::vector<std::unique_ptr<engine::Query>> queries;
    for (std::uint32_t i = 0; i < deployment_.executors; ++i) {
      const queries::ResultSinks sinks({.output = "", .totals = &totals_[node * deployment_.executors + i]},
                                       deployment_.executor_count());
      queries.push_back(workload.build_query(sinks));
    }
    return std::make_unique<QueryOfExecutors>(std::move(queries));
  }

  Deployment deployment_;
  SteadyClock clock_;
  std::vector<Totals> totals_;                           // by executor
  std::vector<std::unique_ptr<engine::Query>> queries_;  // by node
  std::vector<std::unique_ptr<engine::NodeRun>> nodes_;  // after what they use
};

}  // namespace

absl::StatusOr<Measurement> RunEngine(const Workload& workload, const Deployment& deployment,
                                      std::uint64_t prefault_bytes) {
  Cluster cluster(deployment);
  absl::Status status = cluster.Create(workload, prefault_bytes);
  status.Update(status.ok() ? cluster.Connect() : status);
  status.Update(status.ok() ? cluster.Open() : status);
  const double begin = ProcessSeconds();
  status.Update(status.ok() ? cluster.Run() : status);
  const double used = ProcessSeconds() - begin;
  if (!status.ok()) {
    return status;
  }
  Measurement result = cluster.Measure();
  result.processor_seconds = used;
  return result;
}

absl::StatusOr<std::uint64_t> StateToPrefault(const Workload& workload, const Deployment& deployment, bool wanted) {
  if (!wanted) {
    return 0;
  }
  const absl::StatusOr<Measurement> run = RunEngine(workload, deployment, /*prefault_bytes=*/0);
  return run.ok() ? absl::StatusOr<std::uint64_t>(run->state_bytes) : run.status();
}

}  // namespace glaive::bench

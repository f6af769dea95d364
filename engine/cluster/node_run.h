// NodeRun: the executors of one node, from set-up to the end.
//
// Used by one thread, the node's main thread, which calls the phases in order. The rules are those of ExecutorRunner.
//
//   auto run = NodeRun::Create(config, query);
//   (*run)->Connect(all_descriptors);  ...(*run)->PollConnecting();  (*run)->Open(watch);  ...all nodes ready...
//   (*run)->Run(watch);
//   ...all nodes done...  (*run)->Commit(watch);
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/cluster/executor_runner.h"
#include "engine/cluster/host.h"
#include "engine/executor/executor.h"
#include "rdma/base/watch.h"

namespace glaive::engine {

struct NodeRunConfig {
  ExecutorConfig executor;  // `mesh.self` is ignored
  NodeId node{};
  std::vector<int> cpus;  // the CPU of each executor; empty: not pinned
  Host* host = nullptr;   // null: threads of this process; else outlives the run
};

class NodeRun {
 public:
  /// Makes the node's executors, with their segments and rings. `query` outlives the run.
  static absl::StatusOr<std::unique_ptr<NodeRun>> Create(const NodeRunConfig& config, const Query& query);

  std::vector<rdma::MeshDescriptor> descriptors() const;
  /// Begins to connect every executor to all those of the run.
  absl::Status Connect(std::span<const rdma::MeshDescriptor> all);
  /// A node that is not connected to all executors yet; to be called until there is none. Never blocks.
  absl::StatusOr<std::optional<NodeId>> PollConnecting();
  /// Opens the query's tasks; returns when all are open.
  absl::Status Open(const Watch& watch) { return runner_->Open(watch); }
  /// Lets the executors run; returns when all have ended.
  absl::Status Run(const Watch& watch);
  /// Whether a node has been lost to which the last writes of executors that have ended may still be under way: nobody
  /// else looks at those. Never blocks.
  absl::Status PollFailure();
  /// Gives this node's results their names, one executor's after the other's, until `watch`, asked before each, or one
  /// of them fails.
  absl::Status Commit(const Watch& watch);

  const std::vector<std::unique_ptr<Executor>>& executors() const { return executors_; }

 private:
  NodeRun() = default;

  std::vector<std::unique_ptr<Executor>> executors_;
  std::unique_ptr<ExecutorRunner> runner_;  // after them: it ends before they do
};

}  // namespace glaive::engine

// NodeRun: the executors of one node, from set-up to the end.
//
// Used by one thread, the node's main thread, which calls the phases in order. The rules are those of ExecutorRunner:
// each executor is made, connected and run on its own thread. `watch` may end a phase.
//
//   auto run = NodeRun::Create(config, query, watch);
//   (*run)->Connect(all_descriptors, watch);  ...(*run)->PollConnecting(watch);
//   ...all nodes connected...
//   ...(*run)->PollProbes(watch);  (*run)->Open(watch);
//   ...all nodes ready...
//   (*run)->Run(watch);
//   ...all nodes done, meanwhile (*run)->PollChannels()...  (*run)->Commit(watch);
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
  ExecutorConfig executor;  // `mesh.self` and `mesh.node_arrivals` are ignored
  NodeId node{};
  std::vector<int> cpus;        // the CPU of each executor; empty: not pinned
  Host* host = nullptr;         // null: threads of this process; else outlives the run
  bool prefault_rings = false;  // has each executor take the pages of its rings, so that they are near its CPU
};

class NodeRun {
 public:
  /// Makes the node's executors, with their segments and rings. `query` outlives the run.
  static absl::StatusOr<std::unique_ptr<NodeRun>> Create(const NodeRunConfig& config, const Query& query,
                                                         const Watch& watch);

  std::vector<rdma::MeshDescriptor> descriptors() const;
  /// Begins to connect every executor to all those of the run.
  absl::Status Connect(std::span<const rdma::MeshDescriptor> all, const Watch& watch);
  /// A node that is not connected to all executors yet; to be called until there is none. Waits for no peer.
  absl::StatusOr<std::optional<NodeId>> PollConnecting(const Watch& watch);
  /// Once all nodes are connected: a node that the first message of full size has not reached yet from all executors;
  /// to be called until there is none.
  absl::StatusOr<std::optional<NodeId>> PollProbes(const Watch& watch);
  /// Opens the query's tasks; returns when all are open.
  absl::Status Open(const Watch& watch) { return runner_->Open(watch); }
  /// Lets the executors run; returns when all have ended.
  absl::Status Run(const Watch& watch) { return runner_->Run(watch); }
  /// After Run, until all nodes are done: see Executor::PollChannels. The first executor's error, if any.
  absl::Status PollChannels();
  /// Gives this node's results their names, one executor's after the other's, until `watch`, asked before each, or one
  /// of them fails.
  absl::Status Commit(const Watch& watch);

  const std::vector<std::unique_ptr<Executor>>& executors() const { return executors_; }

 private:
  using MeshPoll = absl::StatusOr<std::optional<NodeId>> (rdma::ExecutorMesh::*)();

  NodeRun() = default;
  absl::StatusOr<std::optional<NodeId>> FirstMissing(MeshPoll mesh_poll, const Watch& watch);

  std::vector<std::unique_ptr<Executor>> executors_;
  std::unique_ptr<ExecutorRunner> runner_;  // after them: it ends before they do
};

}  // namespace glaive::engine

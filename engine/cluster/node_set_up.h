// NodeSetUp: how a node gets ready for a run, together with the others: it builds its query, plans transports and
// memory, makes its executors, connects their channels to those of all others and opens their input.
//
// Used once, by the main thread of a node (node_session.h).
//
//   NodeParts parts;
//   absl::Status status = NodeSetUp(program, options, plane, clock, host, parts).Run(watch);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/cluster/engine_options.h"
#include "engine/cluster/host.h"
#include "engine/cluster/memory_plan.h"
#include "engine/cluster/node_run.h"
#include "engine/cluster/query_program.h"
#include "rdma/base/clock.h"
#include "rdma/bootstrap/control_plane.h"

namespace glaive::engine {

/// What a node runs a query with, as far as it has been made. Peers that use its rings are told of a failure before
/// it goes.
struct NodeParts {
  std::unique_ptr<Query> query;
  std::unique_ptr<NodeRun> run;
  std::vector<std::string> devices;  ///< in words, by node; empty without verbs
};

class NodeSetUp {
 public:
  /// All arguments outlive it.
  NodeSetUp(QueryProgram& program, const EngineOptions& options, rdma::ControlPlane& plane, const Clock& clock,
            Host& host, NodeParts& parts);

  /// Makes all parts, up to executors that can start. `watch` is asked now and then whether to give up.
  absl::Status Run(const Watch& watch);

 private:
  absl::StatusOr<rdma::MeshOptions> PlanMesh();
  absl::StatusOr<MemoryPlan> PlanNodeMemory(const rdma::MeshOptions& mesh) const;
  /// The executors' processors; none unless all nodes on this host have found theirs.
  absl::StatusOr<std::vector<int>> ChooseCpus();
  ExecutorConfig ConfigureExecutors(const rdma::MeshOptions& mesh, const MemoryPlan& plan) const;
  absl::Status ExchangeChannels();
  absl::Status AwaitConnections(const Watch& watch);
  /// "node 1 (process 4711) at rxe0 port 1 ...".
  std::string Describe(NodeId node) const;

  QueryProgram* program_;
  const EngineOptions* options_;
  rdma::ControlPlane* plane_;
  const Clock* clock_;
  Host* host_;
  NodeParts* parts_;
  std::uint32_t nodes_on_host_ = 1;  // of this node's host
  std::uint32_t rank_on_host_ = 0;   // of this node among them
};

}  // namespace glaive::engine

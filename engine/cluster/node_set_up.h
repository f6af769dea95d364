// NodeSetUp: how a node gets ready for a run, together with the others: it builds its query, plans transports and
// memory, makes its executors, connects their channels to those of all others and opens their input.
//
// Used once, by the main thread of a node (node_session.h).
//
//   NodeParts parts;
//   absl::Status status = NodeSetUp(program, options, plane, clock, host, claims, parts).Run(watch);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "engine/cluster/host.h"
#include "engine/cluster/memory_plan.h"
#include "engine/cluster/node_run.h"
#include "engine/cluster/query_program.h"
#include "engine/files/file_claims.h"
#include "engine/flags/engine_options.h"
#include "rdma/base/clock.h"
#include "rdma/bootstrap/control_plane.h"

namespace glaive::engine {

/// The query and the executors of a node, as far as they have been made. Peers write to the executors' rings, so a
/// failed node tells them of its failure before it destroys its parts.
struct NodeParts {
  std::unique_ptr<Query> query;
  std::unique_ptr<NodeRun> run;
  std::vector<std::string> devices;     ///< in words, by node; empty without verbs
  std::vector<std::string> processors;  ///< of its executors, in words, by node; empty for a node that is not pinned
};

class NodeSetUp {
 public:
  /// All arguments outlive it.
  NodeSetUp(QueryProgram& program, const EngineOptions& options, rdma::ControlPlane& plane, const Clock& clock,
            Host& host, FileClaims& claims, NodeParts& parts);

  /// Makes all parts, up to executors that can start. `watch` is asked now and then whether to give up.
  absl::Status Run(const Watch& watch);

 private:
  absl::StatusOr<rdma::MeshOptions> PlanMesh();
  /// Tells all nodes of each other's devices. Returns where these are, by node.
  absl::StatusOr<std::vector<std::string>> ExchangeDevices(const rdma::MeshOptions& mesh);
  /// Decides on PCIe relaxed ordering of this node's device, and says what the user should know of it.
  void PlanOrdering(rdma::MeshOptions& mesh) const;
  absl::Status AgreeOnArrival(rdma::MeshOptions& mesh);
  /// Once connections stand: says so if messages are polled and this host's device is known to place bytes out of
  /// order.
  void WarnOfPlacement() const;
  absl::StatusOr<MemoryPlan> PlanNodeMemory(const rdma::MeshOptions& mesh) const;
  /// The executors' processors; none unless all nodes on this host have found theirs.
  absl::StatusOr<std::vector<int>> ChooseCpus();
  /// Claims processors for the executors, those near the device first.
  absl::StatusOr<std::vector<int>> ClaimCpus();
  ExecutorConfig ConfigureExecutors(const rdma::MeshOptions& mesh, const MemoryPlan& plan) const;
  absl::Status ExchangeChannels(const Watch& watch);

  /// The words for a wait in messages, and its deadline.
  struct PeerWait {
    std::string what;  // "queue pair to"
    std::string time;  // "1m (--join-timeout)"
    std::int64_t deadline_ns = 0;
    std::string remedy;  // what to do, behind a semicolon
  };
  using PeerPoll = absl::FunctionRef<absl::StatusOr<std::optional<NodeId>>()>;

  /// Returns when the queue pairs of all nodes stand, and each of this node's has carried a message of full size.
  absl::Status AwaitConnections(const Watch& watch);
  /// Polls until no node is missing.
  absl::Status AwaitPeers(const PeerWait& wait, PeerPoll poll, const Watch& watch);
  /// The time `time` from now, by the run's clock, in nanoseconds.
  std::int64_t DeadlineIn(absl::Duration time) const;
  /// "node 1 (process 4711) at rxe0 port 1 ...".
  std::string Describe(NodeId node) const;
  /// "; the last attempt failed: no route", if one has.
  std::string LastFailure(NodeId node) const;

  QueryProgram* program_;
  const EngineOptions* options_;
  rdma::ControlPlane* plane_;
  const Clock* clock_;
  Host* host_;
  NumaNodes numa_;  // of the host
  FileClaims* claims_;
  NodeParts* parts_;
  rdma::ChannelPlan channels_;
  std::uint32_t nodes_on_host_ = 1;  // of this node's host
  std::uint32_t nodes_before_ = 0;   // of this host, with lower ranks and processors in the same order
  std::optional<int> device_node_;   // the NUMA node of its device
};

}  // namespace glaive::engine

// MeshOptions: what an executor needs to know to build its channels, and how they fit into a budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/channel/channel_options.h"
#include "rdma/transport/descriptors.h"
#include "rdma/transport/transport_options.h"

namespace glaive::rdma {

class Fabric;

/// The same on all executors of a run, but for `self`, `device` and `fabric`.
struct MeshOptions {
  ExecutorId self{};
  std::uint32_t executors_per_node = 1;
  std::uint32_t executor_count = 1;  ///< of the whole run; a multiple of executors_per_node
  ChannelOptions channel;
  std::uint64_t ring_budget_bytes = 0;  ///< for all inbound rings of one node; 0: no limit
  std::uint64_t run_token = 0;          ///< random, made once per run

  TransportKind same_node = TransportKind::kLocal;    ///< between executors of one node
  TransportKind same_host = TransportKind::kShm;      ///< between those of different nodes on one host
  TransportKind other_hosts = TransportKind::kVerbs;  ///< between those of different hosts
  std::vector<std::uint32_t> host_of_node{};          ///< by node, any numbers; empty: all are on one host

  WriteMode write_mode = WriteMode::kWhole;  ///< over verbs
  std::shared_ptr<VerbsDevice> device{};     ///< for verbs
  Fabric* fabric = nullptr;                  ///< null: the system's; outlives the run

  std::uint32_t node_count() const { return executor_count / executors_per_node; }
  NodeId NodeOf(ExecutorId executor) const { return NodeId{Value(executor) / executors_per_node}; }
  /// How two executors reach each other; the same in both directions.
  TransportKind KindBetween(ExecutorId a, ExecutorId b) const;
  TransportKind KindTo(ExecutorId peer) const { return KindBetween(self, peer); }
  /// The kinds above without repetition, in the order of their declaration.
  std::vector<TransportKind> Kinds() const;
  /// Nodes whose executors are reached over `kind`, `self`'s own included where it has other executors.
  std::uint32_t NodesReachedOver(TransportKind kind) const;
  /// Queue pairs that `self`'s node makes over verbs: one to each node that is reached that way for each executor, and
  /// two of each where a node reaches itself.
  std::uint32_t VerbsQueuePairs() const;

  /// InvalidArgument names the setting that makes no sense.
  absl::Status Validate() const;
};

/// Channels that fit their budget.
struct ChannelPlan {
  ChannelOptions channel;
  std::uint64_t node_ring_bytes = 0;  ///< of all inbound rings of one node
  std::string note;                   ///< what had to be given up, for people; empty: nothing
};

/// Gives every ring fewer credits, down to 2, until the rings of a node fit into the budget. Every executor of a run
/// comes to the same result. InvalidArgument names --ring-budget and the least that would do.
absl::StatusOr<ChannelPlan> PlanChannels(const MeshOptions& options);

}  // namespace glaive::rdma

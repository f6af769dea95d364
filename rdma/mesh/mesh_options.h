// MeshOptions: the settings of an executor's channels. PlanChannels makes the channels fit a budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/base/clock.h"
#include "rdma/base/ids.h"
#include "rdma/bootstrap/run_key.h"
#include "rdma/channel/channel_options.h"
#include "rdma/transport/descriptors.h"
#include "rdma/transport/transport_options.h"

namespace glaive::rdma {

class Fabric;

/// The same on all executors of a run, but for `self`, `relaxed_ordering`, `node_arrivals`, `device`, `fabric` and
/// `clock`.
struct MeshOptions {
  ExecutorId self{};
  std::uint32_t executors_per_node = 1;
  std::uint32_t executor_count = 1;  ///< of the whole run; a multiple of executors_per_node
  ChannelOptions channel;
  std::uint64_t ring_budget_bytes = 0;  ///< for all inbound rings of one node; 0: no limit
  std::uint64_t run_token = 0;          ///< random, made once per run; seeds the hash of keys
  RunKey run_key{};                     ///< what tokens are derived from

  TransportKind same_node = TransportKind::kLocal;    ///< between executors of one node
  TransportKind same_host = TransportKind::kShm;      ///< between those of different nodes on one host
  TransportKind other_hosts = TransportKind::kVerbs;  ///< between those of different hosts
  std::vector<std::uint32_t> host_of_node{};          ///< by node, any numbers; empty: all are on one host

  Arrival arrival = Arrival::kChecksum;           ///< over verbs: kChecksum or kImmediate
  bool relaxed_ordering = false;                  ///< over verbs: devices may write rings in any order on PCIe
  std::uint32_t inline_bytes = 0;                 ///< over verbs: messages of so many bytes travel in the work request
  std::shared_ptr<NodeArrivals> node_arrivals{};  ///< kImmediate: shared by the executors of a node
  std::shared_ptr<VerbsDevice> device{};          ///< for verbs
  Fabric* fabric = nullptr;                       ///< null: the system's; outlives the run
  const Clock* clock = nullptr;                   ///< null: the system's; outlives the run

  std::uint32_t node_count() const { return executor_count / executors_per_node; }
  NodeId NodeOf(ExecutorId executor) const { return NodeId{Value(executor) / executors_per_node}; }
  /// How two executors reach each other; the same in both directions.
  TransportKind KindBetween(ExecutorId a, ExecutorId b) const;
  TransportKind KindTo(ExecutorId peer) const { return KindBetween(self, peer); }
  /// The kinds above without repetition, in the order of their declaration.
  std::vector<TransportKind> Kinds() const;
  /// Nodes whose executors are reached over `kind`, `self`'s own included where it has other executors.
  std::uint32_t NodesReachedOver(TransportKind kind) const;
  /// Executors that are reached over `kind`.
  std::uint32_t ExecutorsReachedOver(TransportKind kind) const;
  /// The executor at the other end of the queue pair to the node of `peer`: the one with the same index as `self`.
  ExecutorId OtherEnd(ExecutorId peer) const;
  /// Queue pairs that `self`'s node makes over verbs: one from each executor to each node, and two to its own.
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

/// Makes rings smaller until those of a node fit into the budget: first they have fewer slots, down to 2, then slots
/// are halved, down to kLeastPlannedSlotBytes. Every executor of a run comes to the same result. InvalidArgument names
/// --ring-budget and the least that would do.
absl::StatusOr<ChannelPlan> PlanChannels(const MeshOptions& options);

/// Smaller slots carry more footer and headers than entries.
inline constexpr std::uint32_t kLeastPlannedSlotBytes = 1024;

}  // namespace glaive::rdma

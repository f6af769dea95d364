// MeshOptions: what an executor needs to know to build its channels, and how they fit into a budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/channel/channel_options.h"
#include "rdma/transport/descriptors.h"

namespace glaive::rdma {

/// The same on all executors of a run, but for `self`.
struct MeshOptions {
  ExecutorId self{};
  std::uint32_t executors_per_node = 1;
  std::uint32_t executor_count = 1;  ///< of the whole run; a multiple of executors_per_node
  ChannelOptions channel;
  std::uint64_t ring_budget_bytes = 0;          ///< for all inbound rings of one node; 0: no limit
  std::uint64_t run_token = 0;                  ///< random, made once per run
  TransportKind intra = TransportKind::kLocal;  ///< between executors of one node
  TransportKind inter = TransportKind::kShm;    ///< between executors of different nodes

  NodeId NodeOf(ExecutorId executor) const { return NodeId{Value(executor) / executors_per_node}; }
  TransportKind KindTo(ExecutorId peer) const { return NodeOf(peer) == NodeOf(self) ? intra : inter; }

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

#include "rdma/mesh/mesh_options.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"

namespace glaive::rdma {
namespace {

// A channel's number has 16 bits in a WriteId.
constexpr std::uint32_t kMaxExecutors = 65536;

std::uint64_t SaturatingProduct(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

}  // namespace

absl::Status MeshOptions::Validate() const {
  if (executors_per_node == 0) return absl::InvalidArgumentError("--executors=0: must be at least 1");
  if (executor_count == 0 || executor_count > kMaxExecutors) {
    return absl::InvalidArgumentError(
        absl::StrCat(executor_count, " executors in all: must be from 1 to ", kMaxExecutors));
  }
  if (executor_count % executors_per_node != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(executor_count, " executors in all cannot be split into nodes of ", executors_per_node));
  }
  if (Value(self) >= executor_count) {
    return absl::InvalidArgumentError(absl::StrCat("executor ", Value(self), " of ", executor_count));
  }
  if (!host_of_node.empty() && host_of_node.size() != node_count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the hosts of ", host_of_node.size(), " nodes are known, expected ", node_count()));
  }
  return channel.Validate();
}

TransportKind MeshOptions::KindBetween(ExecutorId a, ExecutorId b) const {
  const std::uint32_t node_a = Value(NodeOf(a));
  const std::uint32_t node_b = Value(NodeOf(b));
  if (node_a == node_b) return same_node;
  return host_of_node.empty() || host_of_node[node_a] == host_of_node[node_b] ? same_host : other_hosts;
}

std::vector<TransportKind> MeshOptions::Kinds() const {
  std::vector<TransportKind> kinds;
  for (const TransportKind kind : {same_node, same_host, other_hosts}) {
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

std::uint32_t MeshOptions::NodesReachedOver(TransportKind kind) const {
  std::uint32_t nodes = 0;
  for (std::uint32_t node = 0; node < node_count(); ++node) {
    const bool alone = NodeId{node} == NodeOf(self) && executors_per_node == 1;
    if (!alone && KindTo(ExecutorId{node * executors_per_node}) == kind) ++nodes;
  }
  return nodes;
}

std::uint32_t MeshOptions::VerbsQueuePairs() const {
  const bool reaches_itself = same_node == TransportKind::kVerbs && executors_per_node > 1;
  return executors_per_node * (NodesReachedOver(TransportKind::kVerbs) + (reaches_itself ? 1 : 0));
}

absl::StatusOr<ChannelPlan> PlanChannels(const MeshOptions& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  const std::uint64_t node_rings = std::uint64_t{options.executors_per_node} * (options.executor_count - 1);
  const std::uint64_t node_slot_bytes = node_rings * options.channel.slot_bytes;  // with one credit each
  ChannelPlan plan{.channel = options.channel,
                   .node_ring_bytes = SaturatingProduct(node_slot_bytes, options.channel.credits),
                   .note = ""};
  if (options.ring_budget_bytes == 0 || plan.node_ring_bytes <= options.ring_budget_bytes) return plan;
  const std::uint64_t credits = options.ring_budget_bytes / node_slot_bytes;
  if (credits < ChannelOptions::kMinCredits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--ring-budget=", FormatBytes(options.ring_budget_bytes), " does not hold the ", node_rings,
        " inbound rings of a node: ", ChannelOptions::kMinCredits, " slots of ",
        FormatBytes(options.channel.slot_bytes), " each take ",
        FormatBytes(node_slot_bytes * ChannelOptions::kMinCredits), "; raise --ring-budget or lower --slot-bytes"));
  }
  plan.channel.credits = static_cast<std::uint32_t>(credits);
  plan.node_ring_bytes = node_slot_bytes * credits;
  plan.note =
      absl::StrCat("rings have ", credits, " credits instead of ", options.channel.credits, ": the ", node_rings,
                   " rings of a node must fit into --ring-budget=", FormatBytes(options.ring_budget_bytes));
  return plan;
}

}  // namespace glaive::rdma

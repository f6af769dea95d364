#include "rdma/mesh/mesh_options.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"
#include "rdma/memory/segment_pool.h"

namespace glaive::rdma {
namespace {

// A channel's number has 16 bits in a WriteId.
constexpr std::uint32_t kMaxExecutors = 65536;

std::uint64_t SaturatingProduct(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

std::uint32_t RoundDown(std::uint32_t value, std::uint32_t unit) { return value / unit * unit; }

std::string Describe(const ChannelOptions& channel) {
  return absl::StrCat(channel.credits, " slots of ", FormatBytes(channel.slot_bytes));
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

std::uint32_t MeshOptions::ExecutorsReachedOver(TransportKind kind) const {
  std::uint32_t executors = 0;
  for (std::uint32_t id = 0; id < executor_count; ++id) {
    if (ExecutorId{id} != self && KindTo(ExecutorId{id}) == kind) ++executors;
  }
  return executors;
}

ExecutorId MeshOptions::OtherEnd(ExecutorId peer) const {
  return ExecutorId{Value(NodeOf(peer)) * executors_per_node + Value(self) % executors_per_node};
}

std::uint32_t MeshOptions::VerbsQueuePairs() const {
  const bool reaches_itself = same_node == TransportKind::kVerbs && executors_per_node > 1;
  return executors_per_node * (NodesReachedOver(TransportKind::kVerbs) + (reaches_itself ? 1 : 0));
}

absl::StatusOr<ChannelPlan> PlanChannels(const MeshOptions& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  const std::uint64_t node_rings = std::uint64_t{options.executors_per_node} * (options.executor_count - 1);
  const auto rings_of = [node_rings](const ChannelOptions& channel) {
    return SaturatingProduct(node_rings * channel.slot_bytes, channel.credits);
  };
  ChannelPlan plan{.channel = options.channel, .node_ring_bytes = rings_of(options.channel), .note = ""};
  const std::uint64_t budget = options.ring_budget_bytes;
  if (budget == 0 || plan.node_ring_bytes <= budget) return plan;
  ChannelOptions& channel = plan.channel;
  const auto most_credits = [&] { return budget / (node_rings * channel.slot_bytes); };
  while (most_credits() < ChannelOptions::kMinCredits && channel.slot_bytes / 2 >= kLeastPlannedSlotBytes) {
    channel.slot_bytes = RoundDown(channel.slot_bytes / 2, SegmentPool::kSlotAlignment);
  }
  if (most_credits() < ChannelOptions::kMinCredits) {
    channel.credits = ChannelOptions::kMinCredits;
    return absl::InvalidArgumentError(
        absl::StrCat("--ring-budget=", FormatBytes(budget), " does not hold the ", node_rings,
                     " inbound rings of a node: ", channel.credits, " slots of ", FormatBytes(channel.slot_bytes),
                     " each take ", FormatBytes(rings_of(channel)), "; raise --ring-budget or lower --slot-bytes"));
  }
  channel.credits = static_cast<std::uint32_t>(std::min<std::uint64_t>(channel.credits, most_credits()));
  plan.node_ring_bytes = rings_of(channel);
  plan.note = absl::StrCat("rings have ", Describe(channel), " instead of ", Describe(options.channel), ": the ",
                           node_rings, " rings of a node must fit into --ring-budget=", FormatBytes(budget));
  return plan;
}

}  // namespace glaive::rdma

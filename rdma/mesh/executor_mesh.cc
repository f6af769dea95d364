#include "rdma/mesh/executor_mesh.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"
#include "rdma/base/check.h"
#include "rdma/channel/checksum.h"
#include "rdma/channel/write_id.h"

namespace glaive::rdma {
namespace {

const Exposure* FindExposure(const MeshDescriptor& descriptor, TransportKind kind) {
  const auto found = std::find_if(descriptor.exposures.begin(), descriptor.exposures.end(),
                                  [kind](const Exposure& exposure) { return exposure.kind == kind; });
  return found == descriptor.exposures.end() ? nullptr : &*found;
}

absl::Status Annotate(const absl::Status& status, ExecutorId peer) {
  return absl::Status(status.code(), absl::StrCat("executor ", Value(peer), ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExecutorMesh>> ExecutorMesh::Prepare(const MeshOptions& options,
                                                                    std::uint32_t send_segment_count) {
  absl::StatusOr<ChannelPlan> plan = PlanChannels(options);
  if (!plan.ok()) return plan.status();
  SystemFabric system;
  Fabric& fabric = options.fabric == nullptr ? system : *options.fabric;
  absl::StatusOr<SegmentPool> segments =
      SegmentPool::Create(options.channel.slot_bytes, send_segment_count,
                          [&fabric](std::size_t size_bytes) { return fabric.MapSegments(size_bytes); });
  if (!segments.ok()) return segments.status();
  std::unique_ptr<ExecutorMesh> mesh(new ExecutorMesh(options, *std::move(plan), *std::move(segments)));
  for (const TransportKind kind : options.Kinds()) {
    if (absl::Status status = mesh->OpenPort(fabric, kind); !status.ok()) return status;
  }
  return mesh;
}

ExecutorMesh::ExecutorMesh(const MeshOptions& options, ChannelPlan plan, SegmentPool segments)
    : options_(options), plan_(std::move(plan)), segments_(std::move(segments)) {}

// Nothing is set up for a kind that reaches nobody.
absl::Status ExecutorMesh::OpenPort(Fabric& fabric, TransportKind kind) {
  const MeshLayout layout(options_, plan_.channel.ring_bytes(), options_.self, kind);
  if (layout.peers() == 0) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Transport>> transport = fabric.MakeTransport(kind, PortOptions(kind));
  if (!transport.ok()) return transport.status();
  absl::StatusOr<ExposedRegion> exposed = (*transport)->Expose(layout.size_bytes());
  if (!exposed.ok()) return exposed.status();
  absl::StatusOr<LocalKey> segments_key = (*transport)->Register(segments_.bytes());
  if (!segments_key.ok()) return segments_key.status();
  ports_.push_back({.transport = *std::move(transport),
                    .layout = layout,
                    .exposed = *exposed,
                    .segments_key = *segments_key,
                    .queue_pairs = std::vector<QueuePair*>(options_.node_count())});
  return absl::OkStatus();
}

// A queue pair serves the channels to all executors of a node, each with up to c messages under way and as many writes
// of credit, and each message may take two writes.
TransportOptions ExecutorMesh::PortOptions(TransportKind kind) const {
  const std::uint32_t writes = plan_.channel.credits * (options_.write_mode == WriteMode::kSplit ? 3 : 2);
  return {.node = options_.NodeOf(options_.self),
          .index_on_node = Value(options_.self) % options_.executors_per_node,
          .node_count = options_.node_count(),
          .queue_pairs = options_.NodesReachedOver(kind),
          .queue_depth = options_.executors_per_node * writes,
          .run_token = options_.run_token,
          .write_mode = options_.write_mode,
          .device = options_.device};
}

MeshDescriptor ExecutorMesh::descriptor() const {
  MeshDescriptor descriptor{.executor = options_.self,
                            .slot_bytes = plan_.channel.slot_bytes,
                            .credits = plan_.channel.credits,
                            .exposures = {}};
  for (const Port& port : ports_) {
    descriptor.exposures.push_back({port.transport->kind(), port.transport->endpoint(), port.exposed.descriptor});
  }
  return descriptor;
}

absl::Status ExecutorMesh::Connect(std::span<const MeshDescriptor> all) {
  GLAIVE_CHECK(senders_.empty(), "executor ", Value(options_.self), " is connected already");
  std::vector<const MeshDescriptor*> by_executor(options_.executor_count);
  for (const MeshDescriptor& descriptor : all) {
    if (absl::Status status = CheckDescriptor(descriptor); !status.ok()) return Annotate(status, descriptor.executor);
    const MeshDescriptor*& place = by_executor[Value(descriptor.executor)];
    if (place != nullptr) return Annotate(absl::InvalidArgumentError("two mesh descriptors"), descriptor.executor);
    place = &descriptor;
  }
  for (std::uint32_t id = 0; id < options_.executor_count; ++id) {
    if (by_executor[id] == nullptr) {
      return Annotate(absl::InvalidArgumentError("no mesh descriptor"), ExecutorId{id});
    }
  }
  senders_.reserve(options_.executor_count - 1);
  receivers_.reserve(options_.executor_count - 1);
  for (std::uint32_t id = 0; id < options_.executor_count; ++id) {
    if (ExecutorId{id} == options_.self) continue;
    if (absl::Status status = ConnectTo(ExecutorId{id}, by_executor); !status.ok()) {
      return Annotate(status, ExecutorId{id});
    }
  }
  return absl::OkStatus();
}

// What is published must be what this executor would have published in that place.
absl::Status ExecutorMesh::CheckDescriptor(const MeshDescriptor& there) const {
  if (Value(there.executor) >= options_.executor_count) {
    return absl::InvalidArgumentError(absl::StrCat("the run has ", options_.executor_count, " executors"));
  }
  if (there.slot_bytes != plan_.channel.slot_bytes || there.credits != plan_.channel.credits) {
    return absl::InvalidArgumentError(absl::StrCat("rings of ", there.credits, " x ", there.slot_bytes,
                                                   " bytes, expected ", plan_.channel.credits, " x ",
                                                   plan_.channel.slot_bytes));
  }
  if (there.executor == options_.self) return absl::OkStatus();
  const TransportKind kind = options_.KindTo(there.executor);
  const Exposure* const exposure = FindExposure(there, kind);
  if (exposure == nullptr) return absl::InvalidArgumentError(absl::StrCat("no memory over transport ", Name(kind)));
  const MeshLayout layout(options_, plan_.channel.ring_bytes(), there.executor, kind);
  if (exposure->region.size_bytes < layout.size_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("a region of ", exposure->region.size_bytes,
                                                   " bytes over transport ", Name(kind), ", expected at least ",
                                                   layout.size_bytes()));
  }
  return absl::OkStatus();
}

ExecutorMesh::Port& ExecutorMesh::PortTo(ExecutorId peer) {
  const TransportKind kind = options_.KindTo(peer);
  const auto found =
      std::find_if(ports_.begin(), ports_.end(), [kind](const Port& port) { return port.transport->kind() == kind; });
  GLAIVE_CHECK(found != ports_.end(), "no transport ", Name(kind), " to executor ", Value(peer));
  return *found;
}

// One per peer node: executor i here has it with executor i there, and writes over it into any executor's memory there.
absl::StatusOr<QueuePair*> ExecutorMesh::QueuePairTo(Port& port, NodeId node,
                                                     std::span<const MeshDescriptor* const> by_executor) {
  QueuePair*& queue_pair = port.queue_pairs[Value(node)];
  if (queue_pair != nullptr) return queue_pair;
  const std::uint32_t index_on_node = Value(options_.self) % options_.executors_per_node;
  const MeshDescriptor& twin = *by_executor[Value(node) * options_.executors_per_node + index_on_node];
  const Exposure* const exposure = FindExposure(twin, port.transport->kind());
  if (exposure == nullptr) return absl::InvalidArgumentError("no endpoint");
  absl::StatusOr<QueuePair*> connected = port.transport->Connect(node, exposure->endpoint);
  if (!connected.ok()) return connected.status();
  queue_pair = *connected;
  return queue_pair;
}

absl::Status ExecutorMesh::ConnectTo(ExecutorId peer, std::span<const MeshDescriptor* const> by_executor) {
  Port& port = PortTo(peer);
  const TransportKind kind = port.transport->kind();
  absl::StatusOr<QueuePair*> queue_pair = QueuePairTo(port, options_.NodeOf(peer), by_executor);
  if (!queue_pair.ok()) return queue_pair.status();
  absl::StatusOr<RemoteRegion> region = port.transport->Attach(FindExposure(*by_executor[Value(peer)], kind)->region);
  if (!region.ok()) return region.status();

  ChannelOptions channel = plan_.channel;
  if (channel.signal_interval == 0) {
    channel.signal_interval = port.transport->SignalingIsFree() ? 1 : channel.credits / 2;
  }
  const MeshLayout theirs(options_, channel.ring_bytes(), peer, kind);
  const MeshLayout& ours = port.layout;
  senders_.emplace_back(channel, SenderEndpoint{.self = options_.self,
                                                .peer = peer,
                                                .queue_pair = *queue_pair,
                                                .segments = &segments_,
                                                .segments_key = port.segments_key,
                                                .region = *region,
                                                .ring_offset = theirs.RingOffset(options_.self),
                                                .credit_word = port.exposed.memory.data() + ours.CreditOffset(peer),
                                                .ring_token = RingToken(options_.run_token, options_.self, peer),
                                                .channel = static_cast<std::uint16_t>(ChannelIndex(peer)),
                                                .completion_frees_segment = port.transport->CompletionFreesMemory()});
  receivers_.emplace_back(
      channel, ReceiverEndpoint{.self = options_.self,
                                .peer = peer,
                                .queue_pair = *queue_pair,
                                .ring = port.exposed.memory.subspan(ours.RingOffset(peer), channel.ring_bytes()),
                                .region = *region,
                                .credit_offset = theirs.CreditOffset(options_.self),
                                .ring_token = RingToken(options_.run_token, peer, options_.self),
                                .channel = static_cast<std::uint16_t>(ChannelIndex(peer))});
  return absl::OkStatus();
}

std::size_t ExecutorMesh::ChannelIndex(ExecutorId peer) const {
  GLAIVE_CHECK(peer != options_.self && Value(peer) < options_.executor_count, "executor ", Value(options_.self),
               " has no channel with executor ", Value(peer), " of ", options_.executor_count);
  return Value(peer) < Value(options_.self) ? Value(peer) : Value(peer) - 1;
}

ChannelSender& ExecutorMesh::sender(ExecutorId peer) {
  const std::size_t index = ChannelIndex(peer);
  GLAIVE_CHECK(index < senders_.size(), "executor ", Value(options_.self), " is not connected");
  return senders_[index];
}

ChannelReceiver& ExecutorMesh::receiver(ExecutorId peer) {
  const std::size_t index = ChannelIndex(peer);
  GLAIVE_CHECK(index < receivers_.size(), "executor ", Value(options_.self), " is not connected");
  return receivers_[index];
}

absl::Status ExecutorMesh::Poll() {
  std::array<Completion, 32> completions;
  for (Port& port : ports_) {
    std::size_t count = 0;
    do {
      count = port.transport->PollCompletions(completions);
      for (std::size_t i = 0; i < count; ++i) {
        const WriteId id = WriteId::Unpack(completions[i].wr_id);
        senders_[id.channel].OnCompletion(id.number, completions[i].status);
      }
    } while (count == completions.size());
  }
  absl::Status first_failure;
  for (ChannelSender& sender : senders_) first_failure.Update(sender.Poll());
  return first_failure;
}

void ExecutorMesh::Flush() {
  for (Port& port : ports_) port.transport->Flush();
}

absl::StatusOr<std::optional<NodeId>> ExecutorMesh::PollConnecting() {
  for (Port& port : ports_) {
    absl::StatusOr<std::optional<NodeId>> missing = port.transport->PollConnecting();
    if (!missing.ok() || missing->has_value()) return missing;
  }
  return std::nullopt;
}

absl::Status ExecutorMesh::PollFailure() {
  for (Port& port : ports_) {
    if (absl::Status status = port.transport->PollFailure(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::size_t ExecutorMesh::ring_bytes() const { return plan_.channel.ring_bytes() * (options_.executor_count - 1); }

std::vector<RegionReport> ExecutorMesh::regions() const {
  std::vector<RegionReport> reports = {{"send segments", segments_.bytes().size(), segments_.pages()}};
  for (const Port& port : ports_) {
    reports.push_back(
        {absl::StrCat("rings over ", port.transport->name()), port.exposed.memory.size(), port.exposed.pages});
  }
  return reports;
}

}  // namespace glaive::rdma

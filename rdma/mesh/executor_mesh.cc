#include "rdma/mesh/executor_mesh.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"
#include "rdma/base/check.h"
#include "rdma/bootstrap/run_key.h"
#include "rdma/channel/write_id.h"
#include "rdma/mesh/mesh_memory.h"
#include "rdma/transport/immediate.h"

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
      SegmentPool::Create(plan->channel.slot_bytes, send_segment_count,
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
  if (MayBeLate(**transport)) {
    if (absl::Status status = MapCopySlot(); !status.ok()) return status;
  }
  ports_.push_back({.transport = *std::move(transport),
                    .layout = layout,
                    .exposed = *exposed,
                    .segments_key = *segments_key,
                    .queue_pairs = std::vector<QueuePair*>(options_.executor_count),
                    .channels = {},
                    .probes = {}});
  return absl::OkStatus();
}

// Whether bytes of a complete write may not be in this executor's memory yet.
bool ExecutorMesh::MayBeLate(const Transport& transport) const {
  const bool may_be_late = !transport.CompletionFreesMemory() || options_.relaxed_ordering;
  return transport.arrival() == Arrival::kChecksum && may_be_late;
}

absl::Status ExecutorMesh::MapCopySlot() {
  absl::StatusOr<PageRegion> memory = PageRegion::Map(plan_.channel.slot_bytes);
  if (!memory.ok()) return memory.status();
  copy_memory_ = *std::move(memory);
  copy_slot_.memory = copy_memory_->bytes();
  return absl::OkStatus();
}

// A channel has up to c messages under way, and as many returns of credit.
TransportOptions ExecutorMesh::PortOptions(TransportKind kind) const {
  const std::uint32_t writes = plan_.channel.credits * 2;
  return {.executor = options_.self,
          .executors_per_node = options_.executors_per_node,
          .executor_count = options_.executor_count,
          .queue_pairs = options_.NodesReachedOver(kind),
          .queue_depth = options_.executors_per_node * writes,
          .run_key = options_.run_key,
          .arrival = options_.arrival,
          .receives = MostArrivals(options_, plan_.channel.credits, kind),
          .node_arrivals = options_.node_arrivals,
          .relaxed_ordering = options_.relaxed_ordering,
          .inline_bytes = options_.inline_bytes,
          .device = options_.device};
}

absl::Status ExecutorMesh::PrefaultRings(const Watch& watch) const {
  for (const Port& port : ports_) {
    if (absl::Status status = PrefaultPages(port.exposed.memory, watch); !status.ok()) return status;
  }
  return absl::OkStatus();
}

MeshDescriptor ExecutorMesh::descriptor() const {
  MeshDescriptor descriptor{.executor = options_.self,
                            .slot_bytes = plan_.channel.slot_bytes,
                            .credits = plan_.channel.credits,
                            .exposures = {}};
  for (const Port& port : ports_) {
    descriptor.exposures.push_back({.kind = port.transport->kind(),
                                    .arrival = port.transport->arrival(),
                                    .endpoint = port.transport->endpoint(),
                                    .region = port.exposed.descriptor,
                                    .may_be_late = MayBeLate(*port.transport)});
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
  has_arrival_.resize(options_.executor_count);
  owes_.resize(options_.executor_count);
  idle_rounds_.resize(options_.executor_count);
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
absl::Status ExecutorMesh::CheckDescriptor(const MeshDescriptor& there) {
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
  if (const Arrival arrival = PortOver(kind).transport->arrival(); exposure->arrival != arrival) {
    return absl::InvalidArgumentError(absl::StrCat("messages arrive by ", Name(exposure->arrival), " there, and by ",
                                                   Name(arrival), " here: give all nodes the same --arrival"));
  }
  return absl::OkStatus();
}

ExecutorMesh::Port& ExecutorMesh::PortOver(TransportKind kind) {
  const auto found =
      std::find_if(ports_.begin(), ports_.end(), [kind](const Port& port) { return port.transport->kind() == kind; });
  GLAIVE_CHECK(found != ports_.end(), "executor ", Value(options_.self), " has no transport ", Name(kind));
  return *found;
}

absl::StatusOr<QueuePair*> ExecutorMesh::ConnectQueuePair(Port& port, ExecutorId other_end,
                                                          std::span<const MeshDescriptor* const> by_executor) {
  const Exposure* const exposure = FindExposure(*by_executor[Value(other_end)], port.transport->kind());
  if (exposure == nullptr) return absl::InvalidArgumentError("no endpoint");
  return port.transport->Connect(other_end, exposure->endpoint);
}

absl::Status ExecutorMesh::ConnectTo(ExecutorId peer, std::span<const MeshDescriptor* const> by_executor) {
  const TransportKind kind = options_.KindTo(peer);
  Port& port = PortOver(kind);
  const ExecutorId other_end = options_.OtherEnd(peer);
  QueuePair*& queue_pair = port.queue_pairs[Value(other_end)];
  const bool is_new = queue_pair == nullptr;
  if (is_new) {
    const absl::StatusOr<QueuePair*> connected = ConnectQueuePair(port, other_end, by_executor);
    if (!connected.ok()) return connected.status();
    queue_pair = *connected;
  }
  const Exposure& exposure = *FindExposure(*by_executor[Value(peer)], kind);
  const absl::StatusOr<RemoteRegion> region = port.transport->Attach(exposure.region);
  if (!region.ok()) return region.status();
  const MeshLayout theirs(options_, plan_.channel.ring_bytes(), peer, kind);
  if (region->size_bytes < theirs.size_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("a region of ", region->size_bytes, " bytes over transport ",
                                                   Name(kind), ", expected at least ", theirs.size_bytes()));
  }

  ChannelOptions channel = plan_.channel;
  const Arrival arrival = port.transport->arrival();
  if (arrival == Arrival::kChecksum) channel.checksum_payload = true;
  if (channel.signal_interval == 0) {
    channel.signal_interval = port.transport->SignalingIsFree() ? 1 : channel.credits / 2;
  }
  const MeshLayout& ours = port.layout;
  const bool may_be_late = MayBeLate(*port.transport);
  const bool may_be_late_there = arrival == Arrival::kChecksum && exposure.may_be_late;
  if (may_be_late_there) repeating_.push_back(static_cast<std::uint16_t>(ChannelIndex(peer)));
  port.channels.push_back(static_cast<std::uint16_t>(ChannelIndex(peer)));
  if (is_new && kind == TransportKind::kVerbs && options_.device != nullptr) {
    port.probes.Add({.queue_pair = queue_pair,
                     .node = options_.NodeOf(other_end),
                     .region = *region,
                     .offset = theirs.RingOffset(options_.self)});
  }
  senders_.emplace_back(channel, SenderEndpoint{.self = options_.self,
                                                .peer = peer,
                                                .queue_pair = queue_pair,
                                                .segments = &segments_,
                                                .segments_key = port.segments_key,
                                                .region = *region,
                                                .ring_offset = theirs.RingOffset(options_.self),
                                                .credit_word = port.exposed.memory.data() + ours.CreditOffset(peer),
                                                .ring_token = RingToken(options_.run_key, options_.self, peer),
                                                .channel = static_cast<std::uint16_t>(ChannelIndex(peer)),
                                                .completion_frees_segment = port.transport->CompletionFreesMemory(),
                                                .credits_may_be_late = may_be_late,
                                                .arrival = arrival});
  receivers_.emplace_back(
      channel, ReceiverEndpoint{.self = options_.self,
                                .peer = peer,
                                .queue_pair = queue_pair,
                                .ring = port.exposed.memory.subspan(ours.RingOffset(peer), channel.ring_bytes()),
                                .region = *region,
                                .credit_offset = theirs.CreditOffset(options_.self),
                                .ring_token = RingToken(options_.run_key, peer, options_.self),
                                .channel = static_cast<std::uint16_t>(ChannelIndex(peer)),
                                .arrival = arrival,
                                .clock = &run_clock(),
                                .copy_slot = may_be_late ? &copy_slot_ : nullptr,
                                .credits_may_be_late = may_be_late_there});
  return absl::OkStatus();
}

const Clock& ExecutorMesh::run_clock() const { return options_.clock == nullptr ? system_clock_ : *options_.clock; }

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
  for (Port& port : ports_) {
    PollCompletions(port);
    if (port.transport->arrival() == Arrival::kImmediate) {
      PollImmediates(port);
    } else {
      PollMemory(port);
    }
  }
  if (served_.has_value()) NoteServed(*served_);
  std::erase_if(overdue_, [this](std::uint16_t channel) { return receivers_[channel].FlushCredits(); });
  if (!repeating_.empty()) RepeatCredits(run_clock().NowNanos());
  return failure_;
}

void ExecutorMesh::PollCompletions(Port& port) {
  std::array<Completion, 32> completions;
  std::size_t count = 0;
  do {
    count = port.transport->PollCompletions(completions);
    for (const Completion& completion : std::span(completions).first(count)) {
      const WriteId id = WriteId::Unpack(completion.wr_id);
      if (id.number == WriteId::kCredit && completion.status == WriteStatus::kDone) {
        receivers_[id.channel].OnCreditCompletion();
      } else {
        senders_[id.channel].OnCompletion(id.number, completion.status);
        if (completion.status != WriteStatus::kDone) failure_.Update(senders_[id.channel].Poll());
      }
    }
  } while (count == completions.size());
}

void ExecutorMesh::PollImmediates(Port& port) {
  constexpr int kMostBatches = 64;  // whatever peers send, the executor's fibers get their turn
  std::array<std::uint32_t, 32> immediates;
  for (int batch = 0; batch < kMostBatches; ++batch) {
    const std::size_t count = port.transport->PollArrivals(immediates);
    for (const std::uint32_t bits : std::span(immediates).first(count)) OnImmediate(port.transport->kind(), bits);
    if (count < immediates.size()) break;
  }
}

void ExecutorMesh::PollMemory(Port& port) {
  for (const std::uint16_t channel : port.channels) {
    failure_.Update(senders_[channel].Poll());
    NoteArrival(channel);
  }
}

void ExecutorMesh::RepeatCredits(std::int64_t now_ns) {
  for (const std::uint16_t channel : repeating_) receivers_[channel].RepeatCredits(now_ns);
}

void ExecutorMesh::OnImmediate(TransportKind kind, std::uint32_t bits) {
  const Immediate immediate = Immediate::Unpack(bits);
  const ExecutorId writer = immediate.executor;
  if (Value(writer) >= options_.executor_count || writer == options_.self || options_.KindTo(writer) != kind) {
    failure_.Update(absl::DataLossError(
        absl::StrCat("executor ", Value(options_.self), ": an immediate value of executor ", Value(writer),
                     " arrived over ", Name(kind), ", which has no channel to this one there")));
    return;
  }
  const std::size_t channel = ChannelIndex(writer);
  if (immediate.is_credit) {
    senders_[channel].OnCredit(immediate.number);
    failure_.Update(senders_[channel].Poll());
  } else {
    receivers_[channel].OnArrival(immediate.number);
    NoteArrival(channel);
  }
}

void ExecutorMesh::NoteArrival(std::size_t channel) {
  if (has_arrival_[channel] || !receivers_[channel].Ready()) return;
  has_arrival_[channel] = true;
  arrivals_.push_back(static_cast<std::uint16_t>(channel));
}

// It may have more messages, and may have had no room for its credits in the send queue.
void ExecutorMesh::NoteServed(std::uint16_t channel) {
  NoteArrival(channel);
  const bool is_listed = std::find(overdue_.begin(), overdue_.end(), channel) != overdue_.end();
  if (receivers_[channel].credits_are_overdue() && !is_listed) overdue_.push_back(channel);
}

ChannelReceiver& ExecutorMesh::NextArrival() {
  GLAIVE_CHECK(!arrivals_.empty(), "executor ", Value(options_.self), " has no arrivals");
  if (served_.has_value()) NoteServed(*served_);
  const std::uint16_t channel = arrivals_.front();
  arrivals_.pop_front();
  has_arrival_[channel] = false;
  served_ = channel;
  idle_rounds_[channel] = 0;
  if (!owes_[channel]) {
    owes_[channel] = true;
    owing_.push_back(channel);
  }
  return receivers_[channel];
}

bool ExecutorMesh::FlushCredits() {
  std::erase_if(owing_, [this](std::uint16_t channel) {
    if (idle_rounds_[channel] < kPatientRounds && ++idle_rounds_[channel] < kPatientRounds) return false;
    owes_[channel] = !receivers_[channel].FlushCredits() || receivers_[channel].held() > 0;
    return !owes_[channel];
  });
  return owing_.empty();
}

bool ExecutorMesh::hands_on() const {
  return options_.executors_per_node > 1 && std::ranges::any_of(ports_, [](const Port& port) {
           return port.transport->kind() == TransportKind::kVerbs && port.transport->arrival() == Arrival::kImmediate;
         });
}

std::uint64_t ExecutorMesh::handed_on() const {
  std::uint64_t values = 0;
  for (const Port& port : ports_) values += port.transport->handed_on();
  return values;
}

std::uint32_t ExecutorMesh::in_flight() const {
  std::uint32_t messages = 0;
  for (const ChannelSender& sender : senders_) messages += sender.in_flight();
  return messages;
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

absl::StatusOr<std::optional<NodeId>> ExecutorMesh::PollProbes() {
  for (Port& port : ports_) {  // no segment has been used yet: all are zeros
    absl::StatusOr<std::optional<NodeId>> missing =
        port.probes.Poll(*port.transport, segments_.bytes().first(plan_.channel.slot_bytes), port.segments_key);
    if (!missing.ok() || missing->has_value()) return missing;
  }
  return std::nullopt;
}

bool ExecutorMesh::PlacesOutOfOrder() const {
  return std::ranges::any_of(ports_, [](const Port& port) { return port.transport->PlacesOutOfOrder(); });
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

#include "tests/sim/network.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "rdma/transport/write_bounds.h"

namespace glaive::sim {

using rdma::Completion;
using rdma::WriteRequest;
using rdma::WriteStatus;

class SimQueuePair final : public rdma::QueuePair {
 public:
  SimQueuePair(Network& of, SimTransport& by, NodeId to, std::uint64_t to_transport);

  bool TryPostWrite(const WriteRequest& request) override;
  void Flush();
  /// The owner will see that a write is done, some time from now.
  void Complete(const WriteRequest& request);
  /// Everything under way ends without effect.
  void Break();
  std::int64_t NextDueNs() const;

  struct Write {
    WriteRequest request;
    std::array<std::byte, sizeof(std::uint64_t)> payload{};  // of an inline write
    std::size_t arrived = 0;
    std::int64_t due_ns = 0;

    const std::byte* data() const { return request.inline_payload ? payload.data() : request.local; }
  };
  struct Ended {
    Completion completion;
    bool is_reported = false;
    std::int64_t due_ns = 0;
  };

  Network* network;
  SimTransport* owner;
  NodeId peer;
  std::uint64_t peer_transport;
  std::int64_t connected_ns;
  std::vector<Write> posted;  // until Flush
  std::deque<Write> under_way;
  std::deque<Ended> ended;        // that the owner has not seen
  std::uint32_t outstanding = 0;  // places of the send queue that are taken
  std::int64_t last_due_ns = 0;
  bool is_broken = false;
  bool was_told = false;  // of that
};

class SimTransport final : public rdma::Transport {
 public:
  SimTransport(Network& network, std::uint64_t number, rdma::TransportKind kind, const rdma::TransportOptions& options,
               const Refusals& refusals)
      : network_(&network),
        number_(number),
        node_(options.node),
        kind_(kind),
        queue_depth_(options.queue_depth),
        refusals_(refusals) {}
  ~SimTransport() override { network_->Remove(*this); }
  SimTransport(const SimTransport&) = delete;
  SimTransport& operator=(const SimTransport&) = delete;

  rdma::TransportKind kind() const override { return kind_; }
  rdma::EndpointDescriptor endpoint() const override { return {.owner = 0, .address = absl::StrCat(number_)}; }

  absl::StatusOr<rdma::ExposedRegion> Expose(std::size_t size_bytes) override {
    if (refusals_.rings) return absl::ResourceExhaustedError("simulated: no memory for rings");
    absl::StatusOr<rdma::PageRegion> region = rdma::PageRegion::Map(size_bytes);
    if (!region.ok()) return region.status();
    const rdma::PageRegion& kept = exposed_.emplace_back(*std::move(region));
    const std::uint32_t key = network_->next_key_++;
    const std::span<std::byte> memory = kept.bytes().first(size_bytes);
    network_->regions_[key] = {.owner = this, .memory = memory};
    return rdma::ExposedRegion{.memory = memory,
                               .descriptor = {.owner = 0,
                                              .key = key,
                                              .address = reinterpret_cast<std::uint64_t>(memory.data()),
                                              .size_bytes = memory.size()},
                               .pages = kept.pages()};
  }

  absl::StatusOr<rdma::LocalKey> Register(std::span<std::byte> memory) override {
    if (refusals_.registration) return absl::ResourceExhaustedError("simulated: no memory can be registered");
    registered_.push_back(memory);
    return rdma::LocalKey{static_cast<std::uint32_t>(registered_.size() - 1)};
  }

  absl::StatusOr<rdma::RemoteRegion> Attach(const rdma::RegionDescriptor& descriptor) override {
    // Shared memory is found through its process. (On one host, none is gone without a word.)
    const bool is_gone =
        network_->silent_.empty() && !network_->regions_.contains(static_cast<std::uint32_t>(descriptor.key));
    if (kind_ == rdma::TransportKind::kShm && is_gone) return absl::NotFoundError("simulated: no such memory file");
    return rdma::RemoteRegion{.address = descriptor.address,
                              .size_bytes = descriptor.size_bytes,
                              .key = static_cast<std::uint32_t>(descriptor.key)};
  }

  absl::StatusOr<rdma::QueuePair*> Connect(NodeId peer, const rdma::EndpointDescriptor& there) override {
    std::uint64_t number = 0;
    if (!absl::SimpleAtoi(there.address, &number)) return absl::InvalidArgumentError("no simulated endpoint");
    queue_pairs_.push_back(std::make_unique<SimQueuePair>(*network_, *this, peer, number));
    return queue_pairs_.back().get();
  }

  absl::StatusOr<std::optional<NodeId>> PollConnecting() override {
    for (const auto& each : queue_pairs_) {
      if (each->is_broken) return Lost(*each);
      const std::int64_t from_ns = std::max(each->connected_ns, network_->HeldUntil(node_, each->peer));
      if (network_->time_->now_ns() < from_ns || !IsConnectedFromThere(*each)) return each->peer;
    }
    return std::nullopt;
  }

  void Flush() override {
    for (const auto& each : queue_pairs_) each->Flush();
  }

  std::size_t PollCompletions(std::span<Completion> completions) override {
    std::size_t count = 0;
    const std::size_t first = queue_pairs_.empty() ? 0 : network_->random_.Below(queue_pairs_.size());
    for (std::size_t i = 0; i < queue_pairs_.size(); ++i) {
      SimQueuePair& each = *queue_pairs_[(first + i) % queue_pairs_.size()];
      while (count < completions.size() && !each.ended.empty() &&
             each.ended.front().due_ns <= network_->time_->now_ns()) {
        if (each.ended.front().is_reported) completions[count++] = each.ended.front().completion;
        each.ended.pop_front();
        --each.outstanding;
      }
    }
    return count;
  }

  bool SignalingIsFree() const override { return network_->options_.signaling_is_free; }
  bool CompletionFreesMemory() const override { return network_->options_.completion_frees_memory; }

  absl::Status PollFailure() override {
    for (const auto& each : queue_pairs_) {
      if (each->is_broken && !each->was_told) {
        each->was_told = true;
        return Lost(*each);
      }
    }
    return absl::OkStatus();
  }

  NodeId node() const { return node_; }
  std::uint64_t number() const { return number_; }
  std::uint32_t queue_depth() const { return queue_depth_; }
  std::span<const std::unique_ptr<SimQueuePair>> queue_pairs() const { return queue_pairs_; }

  bool IsRegistered(const std::byte* data, std::size_t length) const {
    return std::ranges::any_of(registered_, [&](std::span<const std::byte> each) {
      return data >= each.data() && data + length <= each.data() + each.size();
    });
  }

 private:
  static absl::Status Lost(const SimQueuePair& queue_pair) {
    return absl::UnavailableError(absl::StrCat("the connection to node ", Value(queue_pair.peer), " was lost"));
  }

  bool IsConnectedFromThere(const SimQueuePair& queue_pair) const {
    const SimTransport* const there = network_->transports_[queue_pair.peer_transport];
    return there != nullptr &&
           std::ranges::any_of(there->queue_pairs_, [&](const auto& each) { return each->peer_transport == number_; });
  }

  Network* network_;
  std::uint64_t number_;
  NodeId node_;
  rdma::TransportKind kind_;
  std::uint32_t queue_depth_;
  Refusals refusals_;
  std::vector<rdma::PageRegion> exposed_;
  std::vector<std::span<std::byte>> registered_;
  std::vector<std::unique_ptr<SimQueuePair>> queue_pairs_;
};

SimQueuePair::SimQueuePair(Network& of, SimTransport& by, NodeId to, std::uint64_t to_transport)
    : network(&of), owner(&by), peer(to), peer_transport(to_transport) {
  connected_ns = of.time_->now_ns() + of.options_.latency_ns + of.random_.Between(0, of.options_.jitter_ns);
  is_broken = of.broken_.contains(std::minmax(by.node(), to));
  of.queue_pairs_.push_back(this);
}

bool SimQueuePair::TryPostWrite(const WriteRequest& request) {
  rdma::CheckWriteBounds(request);
  if (outstanding >= owner->queue_depth() || network->random_.Chance(network->options_.full_queue)) return false;
  Write write{.request = request};
  if (request.inline_payload) {
    if (request.length > write.payload.size()) network->observer_->OnViolation("an inline write of more than 8 bytes");
    std::memcpy(write.payload.data(), request.local, std::min<std::size_t>(request.length, write.payload.size()));
  } else if (!owner->IsRegistered(request.local, request.length)) {
    network->observer_->OnViolation("a write from memory that is not registered");
  }
  ++outstanding;
  posted.push_back(write);
  return true;
}

void SimQueuePair::Flush() {
  for (Write& write : posted) {
    if (is_broken) {
      ended.push_back({.completion = {.wr_id = write.request.wr_id, .status = WriteStatus::kPeerUnreachable},
                       .is_reported = true,
                       .due_ns = network->time_->now_ns()});
      continue;
    }
    last_due_ns = std::max(last_due_ns, network->time_->now_ns() + network->options_.latency_ns +
                                            network->random_.Between(0, network->options_.jitter_ns));
    write.due_ns = last_due_ns;
    under_way.push_back(write);
    if (!network->options_.completion_frees_memory) Complete(write.request);  // as iWARP does, before it has arrived
  }
  posted.clear();
}

void SimQueuePair::Complete(const WriteRequest& request) {
  const std::int64_t last_ns = ended.empty() ? 0 : ended.back().due_ns;
  const std::int64_t due_ns = network->time_->now_ns() + network->random_.Between(0, network->options_.completion_ns);
  ended.push_back({.completion = {.wr_id = request.wr_id, .status = WriteStatus::kDone},
                   .is_reported = request.signaled,
                   .due_ns = std::max(last_ns, due_ns)});
}

void SimQueuePair::Break() {
  if (is_broken) return;
  is_broken = true;
  const std::int64_t now_ns = network->time_->now_ns();
  for (const Write& write : under_way) {
    if (!network->options_.completion_frees_memory) break;  // they are complete already
    ended.push_back({.completion = {.wr_id = write.request.wr_id, .status = WriteStatus::kPeerUnreachable},
                     .is_reported = true,
                     .due_ns = now_ns});
  }
  under_way.clear();
}

std::int64_t SimQueuePair::NextDueNs() const {
  std::int64_t due_ns = kNever;
  if (!under_way.empty()) {
    due_ns = under_way.front().due_ns;
    const std::int64_t given_up_ns = due_ns + network->options_.retries_ns;
    const std::int64_t held_until_ns =
        network->silent_.contains(peer) ? kNever : network->HeldUntil(owner->node(), peer);
    if (held_until_ns > due_ns) due_ns = std::min(held_until_ns, given_up_ns);
  }
  if (!ended.empty()) due_ns = std::min(due_ns, ended.front().due_ns);
  return due_ns;
}

Network::Network(const NetworkOptions& options, const VirtualTime& time, Random random, NetworkObserver& observer)
    : options_(options), time_(&time), random_(random), observer_(&observer) {}

Network::~Network() = default;

std::unique_ptr<rdma::Transport> Network::MakeTransport(rdma::TransportKind kind, const rdma::TransportOptions& options,
                                                        const Refusals& refusals) {
  auto transport = std::make_unique<SimTransport>(*this, transports_.size(), kind, options, refusals);
  transports_.push_back(transport.get());
  return transport;
}

std::int64_t Network::HeldUntil(NodeId a, NodeId b) const {
  const auto held = held_.find(std::minmax(a, b));
  return held == held_.end() ? 0 : held->second;
}

bool Network::Deliver() {
  std::vector<SimQueuePair*> due;
  for (SimQueuePair* each : queue_pairs_) {
    if (each->under_way.empty() || each->under_way.front().due_ns > time_->now_ns()) continue;
    if (HeldUntil(each->owner->node(), each->peer) > time_->now_ns() || silent_.contains(each->peer)) {
      // Nobody answers; the writes are tried again until the connection is given up.
      if (time_->now_ns() - each->under_way.front().due_ns >= options_.retries_ns) each->Break();
      continue;
    }
    due.push_back(each);
  }
  if (due.empty()) return false;
  DeliverPiece(*due[random_.Below(due.size())]);
  return true;
}

void Network::DeliverPiece(SimQueuePair& queue_pair) {
  SimQueuePair::Write& write = queue_pair.under_way.front();
  const WriteRequest& request = write.request;
  const std::uint64_t address = request.remote.address + request.remote_offset;
  const auto refusal = WhyNotWritable(queue_pair, request.remote.key, address, request.length);
  if (refusal.has_value()) {
    observer_->OnViolation(*refusal);
    queue_pair.Break();
    return;
  }
  // Up to a boundary of pieces at the other end, some of them at a time.
  const std::size_t pieces = (request.length - write.arrived + options_.piece_bytes - 1) / options_.piece_bytes;
  const std::size_t now = random_.Chance(0.5) ? pieces : 1 + random_.Below(pieces);
  const std::uint64_t from = request.remote_offset + write.arrived;
  const std::uint64_t boundary = (from / options_.piece_bytes + now) * options_.piece_bytes;
  const std::size_t length = std::min<std::size_t>(boundary - from, request.length - write.arrived);
  std::memcpy(reinterpret_cast<std::byte*>(address + write.arrived), write.data() + write.arrived, length);
  write.arrived += length;
  observer_->OnArrival(queue_pair.owner->node(), queue_pair.peer, write.arrived, request.length);
  if (queue_pair.under_way.empty() || write.arrived < request.length) return;  // the observer may have ended a node
  if (options_.completion_frees_memory) queue_pair.Complete(request);
  queue_pair.under_way.pop_front();
}

std::optional<std::string> Network::WhyNotWritable(const SimQueuePair& queue_pair, std::uint32_t key,
                                                   std::uint64_t address, std::size_t length) const {
  const auto found = regions_.find(key);
  if (found == regions_.end()) return absl::StrCat("a write with key ", key, ", which nobody has given out");
  const Region& region = found->second;
  if (region.owner->node() != queue_pair.peer) {
    return absl::StrCat("a write to node ", Value(queue_pair.peer), " with a key of node ",
                        Value(region.owner->node()));
  }
  const auto begin = reinterpret_cast<std::uint64_t>(region.memory.data());
  if (address < begin || address + length > begin + region.memory.size()) {
    return absl::StrCat("a write outside of the region of key ", key);
  }
  return std::nullopt;
}

std::int64_t Network::NextDueNs() const {
  std::int64_t due_ns = kNever;
  for (const SimQueuePair* each : queue_pairs_) {
    if (!IsDead(each->owner->node())) due_ns = std::min(due_ns, each->NextDueNs());
  }
  return due_ns;
}

void Network::Kill(NodeId node, bool quietly) {
  dead_.insert(node);
  if (quietly) silent_.insert(node);
  for (SimQueuePair* each : queue_pairs_) {
    if (each->owner->node() == node || (each->peer == node && !quietly)) each->Break();
  }
}

void Network::Break(NodeId a, NodeId b) {
  broken_.insert(std::minmax(a, b));
  for (SimQueuePair* each : queue_pairs_) {
    if (std::minmax(each->owner->node(), each->peer) == std::minmax(a, b)) each->Break();
  }
}

void Network::Hold(NodeId a, NodeId b, std::int64_t until_ns) {
  std::int64_t& held_until_ns = held_[std::minmax(a, b)];
  held_until_ns = std::max(held_until_ns, until_ns);
}

void Network::Remove(SimTransport& transport) {
  std::erase_if(regions_, [&](const auto& each) { return each.second.owner == &transport; });
  std::erase_if(queue_pairs_, [&](const SimQueuePair* each) { return each->owner == &transport; });
  if (!silent_.contains(transport.node())) {
    for (SimQueuePair* each : queue_pairs_) {
      if (each->peer_transport == transport.number()) each->Break();
    }
  }
  transports_[transport.number()] = nullptr;
}

}  // namespace glaive::sim

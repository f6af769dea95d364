#include "tests/sim/network.h"

#include <algorithm>
#include <cstring>
#include <ranges>
#include <utility>

#include "absl/strings/str_cat.h"

#include "tests/sim/sim_transport.h"

namespace glaive::sim {

using rdma::WriteRequest;

namespace {

/// How many counts of credits are late where they may be.
constexpr double kLateCounts = 1.0 / 4;
/// How often a late one is placed right behind a newer one, which nobody has seen then.
constexpr double kUnseenCounts = 1.0 / 2;

}  // namespace

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
  const std::int64_t now_ns = time_->now_ns();
  const auto late = std::ranges::find_if(late_counts_, [&](const Count& each) { return each.due_ns <= now_ns; });
  if (late != late_counts_.end()) {
    Place(*late);
    late_counts_.erase(late);
    return true;
  }
  std::vector<SimQueuePair*> due;
  for (SimQueuePair* each : queue_pairs_) {
    if (each->under_way.empty() || each->under_way.front().due_ns > time_->now_ns()) continue;
    if (HeldUntil(each->owner->node(), each->peer) > time_->now_ns() || silent_.contains(each->peer)) {
      // Nobody answers; the writes are tried again until the connection is given up.
      if (time_->now_ns() - each->under_way.front().due_ns >= options_.retries_ns) each->Break();
      continue;
    }
    if (each->HasPieceDue()) due.push_back(each);
  }
  if (due.empty()) return false;
  DeliverPiece(*due[random_.Below(due.size())]);
  return true;
}

void Network::DeliverPiece(SimQueuePair& queue_pair) {
  SimQueuePair::Write& write = queue_pair.DrawWrite();
  const WriteRequest& request = write.request;
  const std::uint64_t address = request.remote.address + request.remote_offset;
  const auto refusal = WhyNotWritable(queue_pair, request.remote.key, address, request.length);
  if (refusal.has_value()) {
    observer_->OnViolation(*refusal);
    queue_pair.Break();
    return;
  }
  if (MayBeLate(request)) {
    Count count{.key = request.remote.key,
                .address = address,
                .due_ns = time_->now_ns() + random_.Between(1, options_.latest_count_ns)};
    std::memcpy(&count.count, write.data(), sizeof(count.count));
    write.arrived = request.length;
    TakeCount(count);
  } else {
    queue_pair.PlacePieces(write);
  }
  observer_->OnArrival(queue_pair.owner->node(), queue_pair.peer, write.arrived, request.length);
  CompleteArrived(queue_pair);
}

// Whether it is a count of credits, for memory in which a complete write may not be in place yet.
bool Network::MayBeLate(const WriteRequest& request) const {
  const bool is_count = request.inline_payload && request.length == sizeof(Count::count);
  return options_.latest_count_ns > 0 && is_count && regions_.at(request.remote.key).owner->may_be_late();
}

void Network::TakeCount(const Count& count) {
  if (random_.Chance(kLateCounts)) {
    late_counts_.push_back(count);
    return;
  }
  Place(count);
  if (!random_.Chance(kUnseenCounts)) return;
  const auto is_of_same_word = [&](const Count& late) { return late.address == count.address; };
  std::ranges::for_each(late_counts_ | std::views::filter(is_of_same_word), [this](const Count& late) { Place(late); });
  std::erase_if(late_counts_, is_of_same_word);
}

void Network::Place(const Count& count) {
  auto* const there = reinterpret_cast<std::byte*>(count.address);
  std::uint64_t before = 0;
  std::memcpy(&before, there, sizeof(before));
  overwritten_counts_ += before > count.count ? 1 : 0;
  std::memcpy(there, &count.count, sizeof(count.count));
}

// In order, and each when all before it have arrived. There may be none: the observer may have ended a node.
void Network::CompleteArrived(SimQueuePair& queue_pair) {
  std::deque<SimQueuePair::Write>& under_way = queue_pair.under_way;
  while (!under_way.empty() && under_way.front().has_arrived() && under_way.front().due_ns <= time_->now_ns()) {
    const WriteRequest& request = under_way.front().request;
    SimTransport* const there = ReceiverOfImmediate(queue_pair, request.remote.key);
    if (request.immediate.has_value() && there != nullptr) {
      there->OnImmediate(queue_pair.owner->executor(), *request.immediate);
    }
    if (options_.completion_frees_memory) queue_pair.Complete(request);
    under_way.pop_front();
  }
}

// A device hands it to the other end of the queue pair. In the memory of a host it lies beside the region.
SimTransport* Network::ReceiverOfImmediate(const SimQueuePair& queue_pair, std::uint32_t key) const {
  if (queue_pair.owner->kind() == rdma::TransportKind::kVerbs) return transports_[queue_pair.peer_transport];
  const auto found = regions_.find(key);
  return found == regions_.end() ? nullptr : found->second.owner;
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

void Network::PlaceLate(ExecutorId receiver, std::size_t offset, std::size_t length) {
  constexpr std::uint64_t kMostPieces = 4;  // from the end: most messages are shorter than their slot
  for (const auto& [key, region] : regions_) {
    if (region.owner->executor() != receiver || region.owner->kind() != rdma::TransportKind::kVerbs) continue;
    const std::size_t bytes = std::min(options_.piece_bytes, length);
    const std::size_t end = length - bytes * random_.Below(std::min<std::uint64_t>(kMostPieces, length / bytes));
    for (std::byte& byte : region.memory.subspan(offset + end - bytes, bytes)) {
      byte = static_cast<std::byte>(random_.Below(256));
    }
  }
}

std::int64_t Network::NextDueNs() const {
  std::int64_t due_ns = kNever;
  for (const Count& late : late_counts_) due_ns = std::min(due_ns, late.due_ns);
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
  std::erase_if(late_counts_, [&](const Count& late) { return !regions_.contains(late.key); });
  if (!silent_.contains(transport.node())) {
    for (SimQueuePair* each : queue_pairs_) {
      if (each->peer_transport == transport.number()) each->Break();
    }
  }
  transports_[transport.number()] = nullptr;
}

}  // namespace glaive::sim

// SimTransport and SimQueuePair: an executor's end of the simulated network (network.h).
//
// A queue pair keeps what was posted, what is under way, and what has ended and was not seen by its owner. The network
// places the pieces of writes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"
#include "rdma/memory/page_region.h"
#include "rdma/transport/arrival.h"
#include "rdma/transport/node_arrivals.h"
#include "rdma/transport/transport.h"
#include "tests/sim/network.h"

namespace glaive::sim {

class SimQueuePair final : public rdma::QueuePair {
 public:
  SimQueuePair(Network& of, SimTransport& by, NodeId to, std::uint64_t to_transport);

  bool TryPostWrite(const rdma::WriteRequest& request) override;
  void Flush();
  /// The owner will see that a write is done, some time from now.
  void Complete(const rdma::WriteRequest& request);
  /// Everything under way ends without effect.
  void Break();
  std::int64_t NextDueNs() const;

  struct Write {
    rdma::WriteRequest request;
    std::array<std::byte, sizeof(std::uint64_t)> payload{};  // of an inline write
    std::size_t arrived = 0;                                 // bytes
    std::vector<bool> placed{};                              // by piece
    std::int64_t due_ns = 0;
    std::int64_t rest_due_ns = 0;  // of pieces that change nothing
    bool has_only_rest = false;    // as far as the network has tried

    const std::byte* data() const { return request.inline_payload ? payload.data() : request.local; }
    bool has_arrived() const { return arrived == request.length; }
    /// Whether only such pieces are left, which are not due.
    bool Waits(std::int64_t now_ns) const { return has_only_rest && now_ns < rest_due_ns; }
    /// Whether one of its pieces can be placed.
    bool HasPieceDue(std::int64_t now_ns) const { return due_ns <= now_ns && !has_arrived() && !Waits(now_ns); }
  };
  /// Whether a piece of some write can be placed now, or a write be completed.
  bool HasPieceDue() const;
  /// A write of which a piece is to be placed next.
  Write& DrawWrite();
  /// Places some of its pieces.
  void PlacePieces(Write& write);

  struct Ended {
    rdma::Completion completion;
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
        executor_(options.executor),
        node_(options.NodeOf(options.executor)),
        executors_per_node_(options.executors_per_node),
        kind_(kind),
        arrival_(kind == rdma::TransportKind::kVerbs ? options.arrival : rdma::Arrival::kImmediate),
        queue_depth_(options.queue_depth),
        receives_(options.receives),
        node_arrivals_(options.node_arrivals),
        relaxed_ordering_(options.relaxed_ordering),
        refusals_(refusals) {
    if (kind_ == rdma::TransportKind::kVerbs && arrival_ == rdma::Arrival::kImmediate) {
      const absl::Status opened = node_arrivals_->Open(executor_, receives_);
      GLAIVE_CHECK(opened.ok(), opened.message());
    }
  }
  ~SimTransport() override { network_->Remove(*this); }
  SimTransport(const SimTransport&) = delete;
  SimTransport& operator=(const SimTransport&) = delete;

  rdma::TransportKind kind() const override { return kind_; }
  rdma::EndpointDescriptor endpoint() const override { return {.owner = 0, .address = absl::StrCat(number_)}; }

  absl::StatusOr<rdma::ExposedRegion> Expose(std::size_t size_bytes) override {
    if (refusals_.rings) return absl::ResourceExhaustedError("simulated: no memory for rings");
    absl::StatusOr<rdma::PageRegion> region = rdma::PageRegion::Map(size_bytes);
    if (!region.ok()) return region.status();
    const rdma::PageRegion& added = exposed_.emplace_back(*std::move(region));
    const std::uint32_t key = network_->next_key_++;
    const std::span<std::byte> memory = added.bytes().first(size_bytes);
    network_->regions_[key] = {.owner = this, .memory = memory};
    return rdma::ExposedRegion{.memory = memory,
                               .descriptor = {.owner = Value(executor_),
                                              .key = key,
                                              .address = reinterpret_cast<std::uint64_t>(memory.data()),
                                              .size_bytes = memory.size()},
                               .pages = added.pages()};
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
                              .key = static_cast<std::uint32_t>(descriptor.key),
                              .owner = ExecutorId{static_cast<std::uint32_t>(descriptor.owner)}};
  }

  absl::StatusOr<rdma::QueuePair*> Connect(ExecutorId peer, const rdma::EndpointDescriptor& there) override {
    std::uint64_t number = 0;
    if (!absl::SimpleAtoi(there.address, &number)) return absl::InvalidArgumentError("no simulated endpoint");
    queue_pairs_.push_back(
        std::make_unique<SimQueuePair>(*network_, *this, NodeId{Value(peer) / executors_per_node_}, number));
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

  std::size_t PollCompletions(std::span<rdma::Completion> completions) override {
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

  rdma::Arrival arrival() const override { return arrival_; }

  std::size_t PollArrivals(std::span<std::uint32_t> immediates) override {
    const bool is_shared = kind_ == rdma::TransportKind::kVerbs && arrival_ == rdma::Arrival::kImmediate;
    std::size_t count = 0;
    for (; !arrivals_.empty() && count < immediates.size(); arrivals_.pop_front()) {
      const Received& next = arrivals_.front();
      if (!is_shared) {
        immediates[count++] = next.immediate;
        continue;
      }
      const auto own = node_arrivals_->Take(executor_, next.writer, next.immediate);
      if (!own.ok()) {
        network_->observer_->OnViolation(std::string(own.status().message()));
      } else if (own->has_value()) {
        immediates[count++] = **own;
      } else {
        ++handed_on_;
      }
    }
    if (!is_shared) return count;
    const auto more = node_arrivals_->Poll(executor_, immediates.subspan(count));
    if (!more.ok()) network_->observer_->OnViolation(std::string(more.status().message()));
    return count + more.value_or(0);
  }
  std::uint64_t handed_on() const override { return handed_on_; }

  /// Each takes a receive. Devices make peers wait for one; a mesh has enough for all.
  void OnImmediate(ExecutorId writer, std::uint32_t immediate) {
    if (arrivals_.size() == receives_) network_->observer_->OnViolation("an immediate value without a receive");
    arrivals_.push_back({writer, immediate});
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

  ExecutorId executor() const { return executor_; }
  NodeId node() const { return node_; }
  /// Whether a complete write may not be in the memory yet that it exposes.
  bool may_be_late() const { return !CompletionFreesMemory() || relaxed_ordering_; }
  bool places_in_any_order() const { return network_->options_.any_order; }
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

  struct Received {
    ExecutorId writer{};
    std::uint32_t immediate = 0;
  };

  Network* network_;
  std::uint64_t number_;
  ExecutorId executor_;
  NodeId node_;
  std::uint32_t executors_per_node_;
  rdma::TransportKind kind_;
  rdma::Arrival arrival_;
  std::uint32_t queue_depth_;
  std::uint32_t receives_;
  std::shared_ptr<rdma::NodeArrivals> node_arrivals_;
  bool relaxed_ordering_;
  Refusals refusals_;
  std::vector<rdma::PageRegion> exposed_;
  std::vector<std::span<std::byte>> registered_;
  std::vector<std::unique_ptr<SimQueuePair>> queue_pairs_;
  std::deque<Received> arrivals_;  // immediate values that were not polled
  std::uint64_t handed_on_ = 0;
};

}  // namespace glaive::sim

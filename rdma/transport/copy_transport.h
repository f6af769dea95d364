// CopyTransport: the common base of `local` and `shm`. A write is a copy by this thread, done when posting returns.
//
// A copy alone has no order: a reader that polled only the last byte has found stale bytes before it. So messages
// arrive by immediate values: each exposed region begins with an ArrivalQueue, to which the writer pushes them (Q2 of
// QueuePair). Completions wait in a queue of fixed depth until they are polled. Owned by one executor and used by its
// thread alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/transport/arrival_queue.h"
#include "rdma/transport/queue_pair.h"
#include "rdma/transport/transport.h"
#include "rdma/transport/transport_options.h"

namespace glaive::rdma {

/// Completions in the order of their writes; never grows.
class CompletionQueue {
 public:
  explicit CompletionQueue(std::uint32_t depth) : entries_(depth) {}

  bool Full() const { return pushed_ - popped_ == entries_.size(); }
  /// There must be room.
  void Push(const Completion& completion) { entries_[pushed_++ % entries_.size()] = completion; }
  std::size_t Pop(std::span<Completion> completions);

 private:
  std::vector<Completion> entries_;
  std::uint64_t pushed_ = 0;
  std::uint64_t popped_ = 0;
};

/// Copies into memory that is mapped here. All queue pairs of a transport share its completion queue and the queues of
/// the regions that it has attached.
class CopyQueuePair final : public QueuePair {
 public:
  CopyQueuePair(CompletionQueue* completions, std::vector<ArrivalQueue>* attached)
      : completions_(completions), attached_(attached) {}

  /// False only for a signaled write while the completion queue is full.
  bool TryPostWrite(const WriteRequest& request) override;

 private:
  CompletionQueue* completions_;
  std::vector<ArrivalQueue>* attached_;  // by the key of the region
};

/// See the head of this file. What is left to a kind: whose memory it is and how it is mapped.
class CopyTransport : public Transport {
 public:
  /// Nothing to prepare for a copy.
  absl::StatusOr<LocalKey> Register(std::span<std::byte> memory) override;
  /// There is nothing to wait for.
  absl::StatusOr<std::optional<NodeId>> PollConnecting() override { return std::nullopt; }
  /// Every write is done when it was posted.
  void Flush() override {}
  std::size_t PollCompletions(std::span<Completion> completions) override;
  Arrival arrival() const override { return Arrival::kImmediate; }
  std::size_t PollArrivals(std::span<std::uint32_t> immediates) override;
  bool SignalingIsFree() const override { return true; }
  /// What is wrong with an arrival queue.
  absl::Status PollFailure() override;

 protected:
  explicit CopyTransport(const TransportOptions& options)
      : receives_(options.receives), completions_(options.queue_depth * std::max(options.queue_pairs, 1U)) {}

  /// Bytes of a region with `size_bytes` for peers to write, its arrival queue included.
  std::size_t RegionBytes(std::size_t size_bytes) const { return ArrivalQueue::BytesFor(receives_) + size_bytes; }
  /// Puts an arrival queue into a new region; returns the rest.
  std::span<std::byte> AddQueue(std::span<std::byte> region);
  /// Takes in a region of a peer that is mapped here.
  absl::StatusOr<RemoteRegion> AttachMapped(std::span<std::byte> region);

  QueuePair* MakeQueuePair();

 private:
  std::uint32_t receives_;
  CompletionQueue completions_;
  std::vector<ArrivalQueue> exposed_queues_;
  std::vector<ArrivalQueue> attached_queues_;
  absl::Status broken_;
  std::vector<std::unique_ptr<CopyQueuePair>> queue_pairs_;
};

}  // namespace glaive::rdma

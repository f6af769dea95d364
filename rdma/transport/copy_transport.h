// CopyTransport: what `local` and `shm` have in common. A write is a copy by this thread, done when posting returns.
//
// A copy is not ordered by itself (64 bytes at its end were seen stale when only the last byte was polled), so the last
// byte is stored separately with release, and an aligned 8-byte write is one atomic store: that makes Q2 and Q3 of
// QueuePair true. Completions wait in a queue of fixed depth until they are polled.
// Owned by one executor and used by its thread alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/transport/queue_pair.h"
#include "rdma/transport/transport.h"

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

/// Copies into memory that is mapped here. All queue pairs of a transport share its completion queue.
class CopyQueuePair final : public QueuePair {
 public:
  explicit CopyQueuePair(CompletionQueue* completions) : completions_(completions) {}

  /// False only for a signaled write while the completion queue is full.
  bool TryPostWrite(const WriteRequest& request) override;

 private:
  CompletionQueue* completions_;
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
  bool SignalingIsFree() const override { return true; }

 protected:
  explicit CopyTransport(std::uint32_t queue_depth) : completions_(queue_depth) {}

  QueuePair* MakeQueuePair();

 private:
  CompletionQueue completions_;
  std::vector<std::unique_ptr<CopyQueuePair>> queue_pairs_;
};

}  // namespace glaive::rdma

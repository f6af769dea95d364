// VerbsQueuePair: a reliable connection (RC) to one peer node, posting RDMA WRITEs (paper section 6.2), with an
// immediate value or without.
//
// Writes are gathered in a batch and handed to the device together, by Flush or when the batch is full. A full queue is
// noticed without asking the device: a write counts as outstanding until a completion behind it was polled, and one
// write in each quarter of the queue asks for a completion, even if its owner did not. It takes no writes before it is
// activated and after it has failed. Owned by a VerbsTransport.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rdma/transport/queue_pair.h"
#include "rdma/transport/transport.h"

struct ibv_qp;

namespace glaive::rdma {

/// See the head of this file.
class VerbsQueuePair final : public QueuePair {
 public:
  /// Of a write that asks for it, a count of credits; some devices have little more.
  static constexpr std::size_t kInlineBytes = 8;
  /// Work requests handed over together.
  static constexpr std::size_t kBatch = 16;

  /// `index` comes back in the upper half of a completion's wr_id. All writes of up to `inline_bytes` travel in the
  /// work request. A queue pair that gets a batch puts itself into `busy`, once; the owner takes it out when it is no
  /// longer busy.
  VerbsQueuePair(std::uint32_t index, std::uint32_t depth, std::uint32_t inline_bytes,
                 std::vector<VerbsQueuePair*>& busy);

  /// From now on writes go to `queue_pair`, which is connected.
  void Activate(ibv_qp* queue_pair) { queue_pair_ = queue_pair; }
  /// No more writes.
  void Deactivate() { queue_pair_ = nullptr; }
  bool is_active() const { return queue_pair_ != nullptr; }
  /// The device's, while it is active.
  ibv_qp* device_queue_pair() const { return queue_pair_; }
  std::uint32_t index() const { return index_; }

  bool TryPostWrite(const WriteRequest& request) override;
  /// Hands over the batch.
  void Flush();
  /// Whether Flush or TakeRefusal have something to do. False: it has left the list of busy ones.
  bool StaysBusy();

  /// A completion of ours: `sequence` is the lower half of its wr_id. The completion to report, if somebody asked.
  std::optional<Completion> OnCompletion(std::uint32_t sequence, WriteStatus status);
  /// A write that the device did not take; once.
  std::optional<Completion> TakeRefusal();
  /// The error number that the device gave for it.
  int refusal_error() const { return refusal_error_; }

 private:
  // Who wants to know about a write.
  struct Outstanding {
    std::uint64_t wr_id = 0;
    bool signaled = false;
  };
  // One work request of the batch.
  struct Entry {
    const std::byte* local = nullptr;
    std::uint32_t length = 0;
    std::uint32_t local_key = 0;
    std::uint64_t remote_address = 0;
    std::uint32_t remote_key = 0;
    std::uint32_t sequence = 0;
    bool signaled = false;
    bool is_inline = false;
    bool has_payload = false;  // else it is read from `local` when it is handed over
    std::optional<std::uint32_t> immediate;
    std::array<std::byte, kInlineBytes> payload;
  };

  std::uint32_t index_;
  std::uint32_t depth_;
  std::uint32_t inline_bytes_;
  std::vector<VerbsQueuePair*>* busy_;
  ibv_qp* queue_pair_ = nullptr;
  std::vector<Outstanding> outstanding_;  // by sequence; their number is a power of two, so that it may wrap
  std::uint32_t posted_ = 0;              // sequence of the next work request; wraps
  std::uint32_t completed_ = 0;           // all before it are complete
  std::uint32_t since_signaled_ = 0;
  std::array<Entry, kBatch> batch_;
  std::size_t batch_size_ = 0;
  bool is_busy_ = false;  // in *busy_
  std::optional<Completion> refusal_;
  int refusal_error_ = 0;
};

}  // namespace glaive::rdma

// Outbox: queues of messages to each of the other executors: segments that are full or sealed.
//
// Owned by one executor, used by its thread alone. Receivers are served independently of each other, so a slow receiver
// holds up its own queue alone. A segment waits here until its channel has a credit. Then it is the channel's until the
// transport has completed the write, and returns to the pool.
//
//   1. A receiver gets its messages in the order in which they were pushed (invariant I2).
//
// Costs: a push or a send is a few list operations on preallocated arrays. Receivers without segments cost nothing.
//
//   outbox.Push(receiver, segment, payload_bytes, tag);
//   for (const ExecutorId receiver : outbox.receivers()) outbox.TrySend(receiver, channels[receiver]);
//   outbox.DropServed();
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rdma/base/ids.h"
#include "rdma/channel/channel_sender.h"
#include "rdma/channel/message_tag.h"
#include "rdma/memory/segment_pool.h"

namespace glaive::state {

class Outbox {
 public:
  /// Queues for `executor_count` receivers and segments of `pool`, which outlives the outbox.
  Outbox(std::uint32_t executor_count, const rdma::SegmentPool& pool);

  /// Appends a segment, whose first `payload_bytes` are its message, to the receiver's queue.
  void Push(ExecutorId receiver, rdma::SegmentId segment, std::uint32_t payload_bytes, const rdma::MessageTag& tag);

  bool HasPending(ExecutorId receiver) const { return queues_[Value(receiver)].first != kNone; }
  /// The receivers for which segments wait, and those served since DropServed; each once.
  std::span<const ExecutorId> receivers() const { return receivers_; }
  /// Takes receivers without segments out of receivers(), and puts the first of the rest last, so that each is first in
  /// turn.
  void DropServed();
  /// Segments waiting for any receiver.
  std::size_t pending() const { return pending_; }

  /// Posts the receiver's oldest segment. False when there is none, or the channel has no credit or no room now.
  bool TrySend(ExecutorId receiver, rdma::ChannelSender& channel);

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Message {  // one for each segment of the pool, linked into a queue while it waits
    std::uint32_t next;
    std::uint32_t payload_bytes;
    rdma::MessageTag tag;
  };
  struct Queue {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    bool is_listed = false;  // in receivers_
  };

  std::vector<Message> messages_;
  std::vector<Queue> queues_;
  std::vector<ExecutorId> receivers_;
  std::size_t pending_ = 0;
};

}  // namespace glaive::state

// DeltaOutbox: the segments that are full, and those that an epoch's end has sealed, in order, on their way to each
// leader.
//
// Owned by one executor, used by its thread alone. Leaders are served independently of each other: a leader that is
// slow to merge holds up its own queue alone. A segment waits here until its channel has a credit. Then it is the
// channel's until the transport has completed the write, and returns to the pool.
//
//   1. A leader gets the segments of an epoch in order, and epochs in order (invariant I2).
//
// Costs: a push or a send is a few list operations on preallocated arrays. Leaders without segments cost nothing.
//
//   outbox.Push(leader, segment, payload_bytes, tag);
//   for (const ExecutorId leader : outbox.leaders()) outbox.TrySend(leader, channels[leader]);
//   outbox.DropServed();
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rdma/base/ids.h"
#include "rdma/channel/channel_sender.h"
#include "rdma/memory/segment_pool.h"
#include "state/epoch/delta_layout.h"
#include "state/epoch/delta_observer.h"

namespace glaive::state {

class DeltaOutbox {
 public:
  /// Queues for `executor_count` leaders and segments of `pool`. `observer` may be null; both outlive the outbox.
  DeltaOutbox(std::uint32_t executor_count, const rdma::SegmentPool& pool, DeltaObserver* observer = nullptr);

  /// Appends a sealed segment, whose first `payload_bytes` are its message, to the leader's queue.
  void Push(ExecutorId leader, rdma::SegmentId segment, std::uint32_t payload_bytes, const DeltaTag& tag);

  bool HasPending(ExecutorId leader) const { return queues_[Value(leader)].first != kNone; }
  /// The leaders for which segments wait, and those served since DropServed; each once.
  std::span<const ExecutorId> leaders() const { return leaders_; }
  /// Takes leaders without segments out of leaders(), and puts the first of the rest last, so that each is first in
  /// turn.
  void DropServed();
  /// Segments waiting for any leader.
  std::size_t pending() const { return pending_; }

  /// Posts the leader's oldest segment. False when there is none, or the channel has no credit or no room now.
  bool TrySend(ExecutorId leader, rdma::ChannelSender& channel);

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Message {  // one for each segment of the pool, linked into a queue while it waits
    std::uint32_t next;
    std::uint32_t payload_bytes;
    DeltaTag tag;
  };
  struct Queue {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    bool is_listed = false;  // in leaders_
  };

  const rdma::SegmentPool* pool_;
  DeltaObserver* observer_;
  std::vector<Message> messages_;
  std::vector<Queue> queues_;
  std::vector<ExecutorId> leaders_;
  std::size_t pending_ = 0;
};

}  // namespace glaive::state

#include "state/epoch/delta_outbox.h"

namespace glaive::state {

DeltaOutbox::DeltaOutbox(std::uint32_t executor_count, std::size_t segment_count, DeltaObserver* observer)
    : messages_(segment_count), queues_(executor_count), observer_(observer) {}

void DeltaOutbox::Push(ExecutorId leader, rdma::SegmentId segment, std::uint32_t payload_bytes, const DeltaTag& tag) {
  const std::uint32_t number = Value(segment);
  messages_[number] = Message{.next = kNone, .payload_bytes = payload_bytes, .tag = tag};
  Queue& queue = queues_[Value(leader)];
  (queue.first == kNone ? queue.first : messages_[queue.last].next) = number;
  queue.last = number;
  ++pending_;
  if (observer_ != nullptr) {
    observer_->OnQueued(leader, tag);
  }
}

bool DeltaOutbox::TrySend(ExecutorId leader, rdma::ChannelSender& channel) {
  Queue& queue = queues_[Value(leader)];
  if (queue.first == kNone) {
    return false;
  }
  const Message& message = messages_[queue.first];
  if (!channel.TrySend(rdma::SegmentId{queue.first}, message.payload_bytes, rdma::MessageTag::Of(message.tag))) {
    return false;
  }
  queue.first = message.next;
  --pending_;
  return true;
}

}  // namespace glaive::state

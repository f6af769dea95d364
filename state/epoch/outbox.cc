#include "state/epoch/outbox.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace glaive::state {

Outbox::Outbox(std::uint32_t executor_count, const rdma::SegmentPool& pool)
    : messages_(pool.size()), queues_(executor_count) {
  receivers_.reserve(executor_count);
}

void Outbox::Push(ExecutorId receiver, rdma::SegmentId segment, std::uint32_t payload_bytes,
                  const rdma::MessageTag& tag) {
  const std::uint32_t number = Value(segment);
  messages_[number] = Message{.next = kNone, .payload_bytes = payload_bytes, .tag = tag};
  Queue& queue = queues_[Value(receiver)];
  (queue.first == kNone ? queue.first : messages_[queue.last].next) = number;
  queue.last = number;
  if (!std::exchange(queue.is_listed, true)) {
    receivers_.push_back(receiver);
  }
  ++pending_;
}

bool Outbox::TrySend(ExecutorId receiver, rdma::ChannelSender& channel) {
  Queue& queue = queues_[Value(receiver)];
  if (queue.first == kNone) {
    return false;
  }
  const Message& message = messages_[queue.first];
  if (!channel.TrySend(rdma::SegmentId{queue.first}, message.payload_bytes, message.tag)) {
    return false;
  }
  queue.first = message.next;
  --pending_;
  return true;
}

void Outbox::DropServed() {
  std::erase_if(receivers_, [this](ExecutorId receiver) {
    queues_[Value(receiver)].is_listed = HasPending(receiver);
    return !HasPending(receiver);
  });
  if (!receivers_.empty()) {
    std::ranges::rotate(receivers_, receivers_.begin() + 1);
  }
}

}  // namespace glaive::state

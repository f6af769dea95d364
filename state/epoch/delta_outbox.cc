#include "state/epoch/delta_outbox.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace glaive::state {

DeltaOutbox::DeltaOutbox(std::uint32_t executor_count, const rdma::SegmentPool& pool, DeltaObserver* observer)
    : pool_(&pool), observer_(observer), messages_(pool.size()), queues_(executor_count) {
  leaders_.reserve(executor_count);
}

void DeltaOutbox::Push(ExecutorId leader, rdma::SegmentId segment, std::uint32_t payload_bytes, const DeltaTag& tag) {
  const std::uint32_t number = Value(segment);
  messages_[number] = Message{.next = kNone, .payload_bytes = payload_bytes, .tag = tag};
  Queue& queue = queues_[Value(leader)];
  (queue.first == kNone ? queue.first : messages_[queue.last].next) = number;
  queue.last = number;
  if (!std::exchange(queue.is_listed, true)) {
    leaders_.push_back(leader);
  }
  ++pending_;
  if (observer_ != nullptr) {
    observer_->OnQueued(leader, tag, {pool_->Data(segment), std::size_t{tag.runs_bytes}});
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

void DeltaOutbox::DropServed() {
  std::erase_if(leaders_, [this](ExecutorId leader) {
    queues_[Value(leader)].is_listed = HasPending(leader);
    return !HasPending(leader);
  });
  if (!leaders_.empty()) {
    std::ranges::rotate(leaders_, leaders_.begin() + 1);
  }
}

}  // namespace glaive::state

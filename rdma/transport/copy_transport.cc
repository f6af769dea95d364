#include "rdma/transport/copy_transport.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rdma/transport/write_bounds.h"

namespace glaive::rdma {
std::size_t CompletionQueue::Pop(std::span<Completion> completions) {
  const std::size_t count = std::min<std::size_t>(completions.size(), pushed_ - popped_);
  for (std::size_t i = 0; i < count; ++i) completions[i] = entries_[popped_++ % entries_.size()];
  return count;
}

bool CopyQueuePair::TryPostWrite(const WriteRequest& request) {
  CheckWriteBounds(request);
  if (request.signaled && completions_->Full()) return false;
  auto* const to = reinterpret_cast<std::byte*>(request.remote.address + request.remote_offset);
  if (request.length > 0) std::memcpy(to, request.local, request.length);
  if (request.immediate.has_value()) (*attached_)[request.remote.key].Push(*request.immediate);
  if (request.signaled) completions_->Push({.wr_id = request.wr_id, .status = WriteStatus::kDone});
  return true;
}

absl::StatusOr<LocalKey> CopyTransport::Register(std::span<std::byte> /*memory*/) { return LocalKey{0}; }

std::size_t CopyTransport::PollCompletions(std::span<Completion> completions) { return completions_.Pop(completions); }

std::size_t CopyTransport::PollArrivals(std::span<std::uint32_t> immediates) {
  std::size_t count = 0;
  for (ArrivalQueue& queue : exposed_queues_) {
    const absl::StatusOr<std::size_t> some = queue.Poll(immediates.subspan(count));
    if (!some.ok()) {
      broken_ = some.status();
      return count;
    }
    count += *some;
  }
  return count;
}

absl::Status CopyTransport::PollFailure() { return std::exchange(broken_, absl::OkStatus()); }

std::span<std::byte> CopyTransport::AddQueue(std::span<std::byte> region) {
  const ArrivalQueue& queue = exposed_queues_.emplace_back(ArrivalQueue::Make(region, receives_));
  return region.subspan(queue.size_bytes());
}

absl::StatusOr<RemoteRegion> CopyTransport::AttachMapped(std::span<std::byte> region) {
  const absl::StatusOr<ArrivalQueue> queue = ArrivalQueue::Open(region);
  if (!queue.ok()) return queue.status();
  attached_queues_.push_back(*queue);
  return RemoteRegion{.address = reinterpret_cast<std::uint64_t>(region.data()) + queue->size_bytes(),
                      .size_bytes = region.size() - queue->size_bytes(),
                      .key = static_cast<std::uint32_t>(attached_queues_.size() - 1)};
}

QueuePair* CopyTransport::MakeQueuePair() {
  queue_pairs_.push_back(std::make_unique<CopyQueuePair>(&completions_, &attached_queues_));
  return queue_pairs_.back().get();
}

}  // namespace glaive::rdma

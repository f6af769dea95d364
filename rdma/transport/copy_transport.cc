#include "rdma/transport/copy_transport.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "rdma/transport/write_bounds.h"

namespace glaive::rdma {
namespace {

// The copy becomes visible as a whole: partner of the acquire load of whoever polls the last byte (Q2).
void CopyThenReleaseLastByte(std::byte* to, const std::byte* from, std::size_t length) {
  std::memcpy(to, from, length - 1);
  std::atomic_ref<std::uint8_t> last(*reinterpret_cast<std::uint8_t*>(to + length - 1));
  last.store(std::to_integer<std::uint8_t>(from[length - 1]), std::memory_order_release);
}

// Seen whole or not at all (Q3): partner of the acquire load of whoever reads the word. It also keeps this thread's
// earlier reads of the memory it gives back from moving past the store.
void StoreWord(std::byte* to, const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof(word));
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(to)).store(word, std::memory_order_release);
}

}  // namespace

std::size_t CompletionQueue::Pop(std::span<Completion> completions) {
  const std::size_t count = std::min<std::size_t>(completions.size(), pushed_ - popped_);
  for (std::size_t i = 0; i < count; ++i) completions[i] = entries_[popped_++ % entries_.size()];
  return count;
}

bool CopyQueuePair::TryPostWrite(const WriteRequest& request) {
  CheckWriteBounds(request);
  if (request.signaled && completions_->Full()) return false;
  auto* const to = reinterpret_cast<std::byte*>(request.remote.address + request.remote_offset);
  if (request.length == sizeof(std::uint64_t) && request.remote_offset % sizeof(std::uint64_t) == 0) {
    StoreWord(to, request.local);
  } else {
    CopyThenReleaseLastByte(to, request.local, request.length);
  }
  if (request.signaled) completions_->Push({.wr_id = request.wr_id, .status = WriteStatus::kDone});
  return true;
}

absl::StatusOr<LocalKey> CopyTransport::Register(std::span<std::byte> /*memory*/) { return LocalKey{0}; }

std::size_t CopyTransport::PollCompletions(std::span<Completion> completions) { return completions_.Pop(completions); }

QueuePair* CopyTransport::MakeQueuePair() {
  queue_pairs_.push_back(std::make_unique<CopyQueuePair>(&completions_));
  return queue_pairs_.back().get();
}

}  // namespace glaive::rdma

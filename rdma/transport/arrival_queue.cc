#include "rdma/transport/arrival_queue.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace glaive::rdma {
namespace {

constexpr std::size_t kCapacityOffset = 64;
constexpr std::size_t kValuesOffset = 128;
constexpr std::size_t kAlignment = 4096;

std::uint64_t CapacityFor(std::uint32_t values) { return std::bit_ceil(std::max<std::uint64_t>(values, 1)); }

std::size_t BytesOf(std::uint64_t capacity) {
  return (kValuesOffset + capacity * sizeof(std::uint64_t) + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint64_t& WordAt(std::byte* memory, std::size_t offset) {
  return *reinterpret_cast<std::uint64_t*>(memory + offset);
}

// Tells the value of a ticket from that of the ticket a capacity before it, and from zeroed memory.
std::uint32_t LapOf(std::uint64_t ticket, std::uint64_t capacity) {
  return static_cast<std::uint32_t>(ticket / capacity + 1);
}

}  // namespace

std::size_t ArrivalQueue::BytesFor(std::uint32_t values) { return BytesOf(CapacityFor(values)); }

ArrivalQueue ArrivalQueue::Make(std::span<std::byte> memory, std::uint32_t values) {
  const std::uint64_t capacity = CapacityFor(values);
  std::ranges::fill(memory.first(BytesOf(capacity)), std::byte{});  // its pages lie on the reader's NUMA node then
  WordAt(memory.data(), kCapacityOffset) = capacity;
  return {memory.data(), capacity};
}

absl::StatusOr<ArrivalQueue> ArrivalQueue::Open(std::span<std::byte> memory) {
  std::uint64_t capacity = 0;
  if (memory.size() >= kAlignment) capacity = WordAt(memory.data(), kCapacityOffset);
  // The bound keeps the size from wrapping around.
  if (!std::has_single_bit(capacity) || capacity > memory.size() || BytesOf(capacity) > memory.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a region of ", memory.size(), " bytes begins with no arrival queue; its capacity is ", capacity));
  }
  return ArrivalQueue(memory.data(), capacity);
}

std::size_t ArrivalQueue::size_bytes() const { return BytesOf(capacity_); }

std::uint64_t& ArrivalQueue::ValueOf(std::uint64_t ticket) const {
  return WordAt(memory_, kValuesOffset + ticket % capacity_ * sizeof(std::uint64_t));
}

// The counter also orders the stores of one place by different writers.
void ArrivalQueue::Push(std::uint32_t value) {
  const std::uint64_t ticket = std::atomic_ref(WordAt(memory_, 0)).fetch_add(1, std::memory_order_acq_rel);
  const std::uint64_t stored = std::uint64_t{LapOf(ticket, capacity_)} << 32 | value;
  std::atomic_ref(ValueOf(ticket)).store(stored, std::memory_order_release);
}

absl::StatusOr<std::size_t> ArrivalQueue::Poll(std::span<std::uint32_t> values) {
  std::size_t count = 0;
  for (; count < values.size(); ++count) {
    const std::uint64_t stored = std::atomic_ref(ValueOf(polled_)).load(std::memory_order_acquire);
    const std::uint32_t lap = LapOf(polled_, capacity_);
    const auto stored_lap = static_cast<std::uint32_t>(stored >> 32);
    if (stored_lap == lap - 1) break;
    if (stored_lap != lap) {
      return absl::DataLossError(absl::StrCat("arrival queue of ", capacity_, " values: value ", polled_ + 1,
                                              " was written over before it was read (AQ1)"));
    }
    values[count] = static_cast<std::uint32_t>(stored);
    ++polled_;
  }
  return count;
}

}  // namespace glaive::rdma

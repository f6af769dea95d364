// Fifo: elements of one key in the order in which they came, side by side in memory: added at the end, taken from the
// front.
//
//   | taken | oldest | ... | newest | room |     a block of SmallBlocks, twice as large when it is full
//
// An empty one has no memory. Elements are copied as their bytes: where they have texts, the caller owns these
// (state/log/value_texts.h).
//
// Plain data, which lies in the value of a table: it has no destructor, and Clear gives its memory back. Used by one
// executor's thread alone. Costs: adding costs a copy, now and then two.
//
//   Fifo<Ride> rides;
//   status = rides.Push(memory, blocks, ride);
//   Use(rides.elements());               // a span
//   rides.Pop(memory, blocks, 2);        // the two oldest ones
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/check.h"
#include "state/log/state_memory.h"
#include "state/store/small_blocks.h"

namespace glaive::state {

template <typename T>
class Fifo {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= SmallBlocks::kAlignment);

 public:
  /// Adds a copy of an element. ResourceExhausted past the budget; then nothing is added.
  absl::Status Push(StateMemory& memory, SmallBlocks& blocks, const T& element) {
    if (begin_ + size_ == capacity_) {
      if (absl::Status status = MakeRoom(memory, blocks); !status.ok()) {
        return status;
      }
    }
    std::memcpy(static_cast<void*>(data_ + begin_ + size_), &element, sizeof(T));
    ++size_;
    return absl::OkStatus();
  }

  /// Takes the `count` oldest ones away.
  void Pop(StateMemory& memory, SmallBlocks& blocks, std::uint64_t count) {
    GLAIVE_CHECK(count <= size_, count, " elements of ", size_);
    begin_ += count;
    size_ -= count;
    if (size_ == 0 && data_ != nullptr) {
      blocks.Release(memory, reinterpret_cast<std::byte*>(data_), capacity_ * sizeof(T));
      *this = {};
    }
  }
  void Clear(StateMemory& memory, SmallBlocks& blocks) { Pop(memory, blocks, size_); }

  /// Takes the newest one away.
  void PopNewest(StateMemory& memory, SmallBlocks& blocks) {
    GLAIVE_CHECK(size_ > 0, "the newest of no elements");
    --size_;
    Pop(memory, blocks, 0);
  }

  std::span<const T> elements() const { return {data_ + begin_, size_}; }
  /// For one that puts them in another order.
  std::span<T> elements() { return {data_ + begin_, size_}; }
  /// The newest one; there is one.
  T& back() { return data_[begin_ + size_ - 1]; }
  std::uint64_t size() const { return size_; }

 private:
  /// At the front where most of the block is taken from it, else in a block twice as large.
  absl::Status MakeRoom(StateMemory& memory, SmallBlocks& blocks) {
    if (begin_ > size_) {
      std::memmove(static_cast<void*>(data_), data_ + begin_, size_ * sizeof(T));
      begin_ = 0;
      return absl::OkStatus();
    }
    const std::size_t room = SmallBlocks::RoomFor(capacity_ == 0 ? sizeof(T) : 2 * capacity_ * sizeof(T));
    const absl::StatusOr<std::byte*> block = blocks.Acquire(memory, room);
    if (!block.ok()) {
      return block.status();
    }
    T* const larger = reinterpret_cast<T*>(*block);
    if (data_ != nullptr) {
      std::memcpy(static_cast<void*>(larger), data_ + begin_, size_ * sizeof(T));
      blocks.Release(memory, reinterpret_cast<std::byte*>(data_), capacity_ * sizeof(T));
    }
    data_ = larger;
    begin_ = 0;
    capacity_ = room / sizeof(T);
    return absl::OkStatus();
  }

  T* data_ = nullptr;
  std::uint64_t begin_ = 0;  // of the oldest one
  std::uint64_t size_ = 0;
  std::uint64_t capacity_ = 0;  // of the block
};

}  // namespace glaive::state

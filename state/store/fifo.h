// Fifo: elements of one key in the order in which they came, side by side in memory: added at the end, taken from the
// front.
//
//   few small ones lie in the Fifo itself     | oldest | newest |
//   others in a block of SmallBlocks          | taken | oldest | ... | newest | room |    twice as large when it is
//   full
//
// So a Fifo of one or two numbers costs no cache miss beside that of the table's entry which it lies in. An empty one
// has no block. Elements are copied as their bytes: where they have texts, the caller owns these
// (state/log/value_texts.h).
//
// Plain data, which lies in the value of a table: it has no destructor, and Clear gives its memory back. A span of its
// elements is valid as long as it stays where it is. Used by one executor's thread alone. Costs: adding costs a copy,
// now and then two.
//
//   Fifo<Ride> rides;
//   status = rides.Push(memory, blocks, ride);
//   Use(rides.elements());               // a span
//   rides.Pop(memory, blocks, 2);        // the two oldest ones
#pragma once

#include <array>
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
    if (begin_ + size_ == capacity()) {
      if (absl::Status status = MakeRoom(memory, blocks); !status.ok()) {
        return status;
      }
    }
    std::memcpy(static_cast<void*>(data() + begin_ + size_), &element, sizeof(T));
    ++size_;
    return absl::OkStatus();
  }

  /// Takes the `count` oldest ones away.
  void Pop(StateMemory& memory, SmallBlocks& blocks, std::uint64_t count) {
    GLAIVE_CHECK(count <= size_, count, " elements of ", size_);
    begin_ += count;
    size_ -= count;
    if (size_ == 0) {
      if (has_block_) {
        ReleaseBlock(memory, blocks);
      }
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

  std::span<const T> elements() const { return {data() + begin_, size_}; }
  /// For one that puts them in another order.
  std::span<T> elements() { return {data() + begin_, size_}; }
  /// The newest one; there is one.
  T& back() { return data()[begin_ + size_ - 1]; }
  std::uint64_t size() const { return size_; }

 private:
  /// Of a block.
  struct Outside {
    T* data;
    std::uint64_t capacity;
  };
  /// How many lie in the Fifo itself, in place of what refers to a block.
  static constexpr std::size_t kRoomInside = sizeof(Outside);  // bytes
  static constexpr std::uint64_t kInside = alignof(T) <= alignof(Outside) ? kRoomInside / sizeof(T) : 0;

  T* data() { return has_block_ ? OutsideBlock().data : reinterpret_cast<T*>(storage_.data()); }
  const T* data() const { return has_block_ ? OutsideBlock().data : reinterpret_cast<const T*>(storage_.data()); }
  std::uint64_t capacity() const { return has_block_ ? OutsideBlock().capacity : kInside; }
  Outside OutsideBlock() const {
    Outside block;
    std::memcpy(&block, storage_.data(), sizeof(block));
    return block;
  }

  /// At the front where most of the room is taken from it, or few elements have to move, else in a block twice as
  /// large.
  absl::Status MakeRoom(StateMemory& memory, SmallBlocks& blocks) {
    if (begin_ > size_ || (!has_block_ && begin_ > 0)) {
      std::memmove(static_cast<void*>(data()), data() + begin_, size_ * sizeof(T));
      begin_ = 0;
      return absl::OkStatus();
    }
    const std::size_t room = SmallBlocks::RoomFor(capacity() == 0 ? sizeof(T) : 2 * capacity() * sizeof(T));
    const absl::StatusOr<std::byte*> block = blocks.Acquire(memory, room);
    if (!block.ok()) {
      return block.status();
    }
    std::memcpy(*block, static_cast<const void*>(data() + begin_), size_ * sizeof(T));
    if (has_block_) {
      ReleaseBlock(memory, blocks);
    }
    const Outside outside{.data = reinterpret_cast<T*>(*block), .capacity = room / sizeof(T)};
    std::memcpy(storage_.data(), &outside, sizeof(outside));
    has_block_ = 1;
    begin_ = 0;
    return absl::OkStatus();
  }

  void ReleaseBlock(StateMemory& memory, SmallBlocks& blocks) {
    const Outside block = OutsideBlock();
    blocks.Release(memory, reinterpret_cast<std::byte*>(block.data), block.capacity * sizeof(T));
  }

  std::uint64_t begin_ : 63 = 0;  // of the oldest one
  std::uint64_t has_block_ : 1 = 0;
  std::uint64_t size_ = 0;
  alignas(Outside) std::array<std::byte, kRoomInside> storage_{};  // the elements, or an Outside
};

}  // namespace glaive::state

// SmallBlocks: blocks of 32 bytes to 32 KiB, cut from an executor's state memory: what belongs to a single key lies in
// them.
//
// A block has a power of two of bytes. One that comes back is the next one of its size. Larger blocks come from the
// state memory itself, and go back there.
//
//   state memory   | region of 4 KiB | region of 8 KiB | ... | region of 64 KiB |
//   a region       | 64 | 64 | 1,024               | 32 | 512       |  not cut yet |
//
// Owned by one executor, used by its thread alone. Regions count against the budget. They go back with ReleaseAll.
//
//   SmallBlocks blocks;
//   absl::StatusOr<std::byte*> block = blocks.Acquire(memory, 100);   // of RoomFor(100), 128 bytes
//   blocks.Release(memory, *block, 100);
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "state/log/state_memory.h"

namespace glaive::state {

class SmallBlocks {
 public:
  /// To which the blocks are aligned.
  static constexpr std::size_t kAlignment = 32;

  /// How large the block is that Acquire returns.
  static std::size_t RoomFor(std::size_t bytes) { return std::bit_ceil(std::max(bytes, kAlignment)); }

  /// A block for `bytes`, which hold anything. ResourceExhausted past the budget.
  absl::StatusOr<std::byte*> Acquire(StateMemory& memory, std::size_t bytes) {
    const std::size_t room = RoomFor(bytes);
    if (room > kMostBytes) {
      const absl::StatusOr<Block> block = memory.Acquire(room, Contents::kAny);
      return block.ok() ? absl::StatusOr<std::byte*>(block->data) : block.status();
    }
    std::byte*& first = free_[ClassOf(room)];
    if (first != nullptr) {
      std::byte* const block = first;
      std::memcpy(static_cast<void*>(&first), block, sizeof(first));
      return block;
    }
    if (left_ < room) {
      if (absl::Status status = AddRegion(memory, room); !status.ok()) {
        return status;
      }
    }
    left_ -= room;
    return std::exchange(next_, next_ + room);
  }

  /// Takes a block back that Acquire has returned for so many bytes.
  void Release(StateMemory& memory, std::byte* block, std::size_t bytes) {
    const std::size_t room = RoomFor(bytes);
    if (room > kMostBytes) {
      memory.Release({.data = block, .size_bytes = room}, Contents::kAny);
    } else {
      AddFree(block, room);
    }
  }

  /// Gives the regions back, and with them all blocks of up to 32 KiB, whoever has them.
  void ReleaseAll(StateMemory& memory) {
    for (const Block& region : regions_) {
      memory.Release(region, Contents::kAny);
    }
    *this = {};
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{32} << 10;
  static constexpr std::size_t kLeastRegion = std::size_t{4} << 10;
  static constexpr std::size_t kMostRegion = 2 * kMostBytes;
  static constexpr std::size_t kClasses = std::countr_zero(kMostBytes) - std::countr_zero(kAlignment) + 1;

  static std::size_t ClassOf(std::size_t room) {
    return static_cast<std::size_t>(std::countr_zero(room) - std::countr_zero(kAlignment));
  }

  void AddFree(std::byte* block, std::size_t room) {
    std::byte*& first = free_[ClassOf(room)];
    std::memcpy(block, static_cast<const void*>(&first), sizeof(first));
    first = block;
  }

  /// Has room for `room` bytes at least. What is left of the region before becomes free blocks.
  absl::Status AddRegion(StateMemory& memory, std::size_t room) {
    const std::size_t grown = std::min(kLeastRegion << std::min(regions_.size(), kClasses), kMostRegion);
    const absl::StatusOr<Block> region = memory.Acquire(std::max(grown, room), Contents::kAny);
    if (!region.ok()) {
      return region.status();
    }
    while (left_ >= kAlignment) {
      const std::size_t piece = std::min(std::bit_floor(left_), kMostBytes);
      AddFree(next_, piece);
      next_ += piece;
      left_ -= piece;
    }
    regions_.push_back(*region);
    next_ = region->data;
    left_ = region->size_bytes;
    return absl::OkStatus();
  }

  std::vector<Block> regions_;
  std::byte* next_ = nullptr;  // in the last region: what is not cut yet
  std::size_t left_ = 0;
  std::array<std::byte*, kClasses> free_ = {};  // the first free block of each size, which refers to the next one
};

}  // namespace glaive::state

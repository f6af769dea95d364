// EntryLog: a dense log of fixed-size entries, numbered 0, 1, 2 … in the order they were appended.
//
// Entries stay where they are until the whole log is released, and are updated in place. Owned by one
// executor, used by its thread alone.
//
// Costs: At is a shift, a load from a short table of blocks and an add. Blocks are 256 to 512 KiB, so that
// the table of 10 million 16-byte entries is 5 KiB and stays in the first-level cache.
//
//   EntryLog<Entry> log;
//   if (absl::Status status = log.MakeRoom(memory); !status.ok()) return status;
//   std::uint32_t number = log.Append(Entry{...});
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "state/log/state_memory.h"

namespace glaive::state {

template <typename E>
class EntryLog {
  static_assert(std::is_trivially_copyable_v<E> && alignof(E) <= 64 && sizeof(E) <= 4096);

 public:
  static constexpr std::uint32_t kEntriesPerBlock =
      static_cast<std::uint32_t>(std::bit_ceil((std::size_t{256} << 10) / sizeof(E)));
  static constexpr std::size_t kBlockBytes = kEntriesPerBlock * sizeof(E);
  /// Numbers are 32 bits, and the last one means "none" to the index.
  static constexpr std::uint32_t kMaxEntries = 0xFFFFFFFE;

  E& At(std::uint32_t number) { return blocks_[number / kEntriesPerBlock][number % kEntriesPerBlock]; }
  const E& At(std::uint32_t number) const { return blocks_[number / kEntriesPerBlock][number % kEntriesPerBlock]; }

  /// Makes sure that `entries` more can be appended. ResourceExhausted past the budget or 2^32 - 2 entries.
  absl::Status MakeRoom(StateMemory& memory, std::uint32_t entries) {
    while (capacity() - size_ < entries) {
      if (capacity() + kEntriesPerBlock > kMaxEntries) {
        return absl::ResourceExhaustedError(
            "one executor leads more than 2^32 - 2 keys of a window: use more executors");
      }
      absl::StatusOr<Block> block = memory.Acquire(kBlockBytes, Contents::kAny);
      if (!block.ok()) {
        return block.status();
      }
      blocks_.push_back(reinterpret_cast<E*>(block->data));
    }
    return absl::OkStatus();
  }

  /// Appends into room that MakeRoom made.
  std::uint32_t Append(const E& entry) {
    new (&At(size_)) E(entry);
    return size_++;
  }

  /// Entries `first` to the end of its block or of the log: what one step of a scan reads.
  std::span<const E> Run(std::uint32_t first) const {
    if (first >= size_) {
      return {};
    }
    const std::uint32_t left_in_block = kEntriesPerBlock - first % kEntriesPerBlock;
    return {&At(first), std::min(left_in_block, size_ - first)};
  }

  void Release(StateMemory& memory) {
    for (E* block : blocks_) {
      memory.Release(Block{.data = reinterpret_cast<std::byte*>(block), .size_bytes = kBlockBytes}, Contents::kAny);
    }
    blocks_.clear();
    size_ = 0;
  }

  std::uint32_t size() const { return size_; }
  std::size_t size_bytes() const { return blocks_.size() * kBlockBytes; }

 private:
  std::uint64_t capacity() const { return blocks_.size() * std::uint64_t{kEntriesPerBlock}; }

  std::vector<E*> blocks_;
  std::uint32_t size_ = 0;
};

}  // namespace glaive::state

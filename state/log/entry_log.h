// EntryLog: a dense log of fixed-size entries, numbered 0, 1, 2 … in the order they were appended.
//
// Entries are updated in place. Only MakeRoom may move them. Owned by one executor, used by its thread alone.
//
// Costs: At is a shift, a load from a short table of blocks and an add. Blocks are 256 to 512 KiB, so that the table of
// 10 million 16-byte entries is 5 KiB and stays in the first-level cache. The first block starts with 4 KiB, since
// there may be thousands of logs with some entries each. When it is full, it is copied to one four times as large.
//
//   EntryLog<Entry> log;
//   if (absl::Status status = log.MakeRoom(memory); !status.ok()) return status;
//   std::uint32_t number = log.Append(Entry{...});
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
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
      const bool first_grows = first_capacity_ < kEntriesPerBlock;
      if (absl::Status status = first_grows ? GrowFirstBlock(memory) : AddBlock(memory); !status.ok()) {
        return status;
      }
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
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      ReleaseBlock(memory, blocks_[i], i == 0 ? first_capacity_ : kEntriesPerBlock);
    }
    blocks_.clear();
    first_capacity_ = 0;
    size_ = 0;
  }

  std::uint32_t size() const { return size_; }
  std::size_t size_bytes() const { return capacity() * sizeof(E); }

 private:
  static constexpr std::uint32_t kFirstEntries =
      std::min(kEntriesPerBlock, static_cast<std::uint32_t>(std::bit_ceil((std::size_t{4} << 10) / sizeof(E))));

  std::uint64_t capacity() const {
    return blocks_.empty() ? 0 : first_capacity_ + (blocks_.size() - 1) * std::uint64_t{kEntriesPerBlock};
  }

  static void ReleaseBlock(StateMemory& memory, E* block, std::uint32_t entries) {
    memory.Release(Block{.data = reinterpret_cast<std::byte*>(block), .size_bytes = entries * sizeof(E)},
                   Contents::kAny);
  }

  absl::Status GrowFirstBlock(StateMemory& memory) {
    const std::uint32_t grown = blocks_.empty() ? kFirstEntries : std::min(4 * first_capacity_, kEntriesPerBlock);
    absl::StatusOr<Block> block = memory.Acquire(grown * sizeof(E), Contents::kAny);
    if (!block.ok()) {
      return block.status();
    }
    auto* const entries = reinterpret_cast<E*>(block->data);
    if (blocks_.empty()) {
      blocks_.push_back(entries);
    } else {
      std::uninitialized_copy_n(blocks_.front(), size_, entries);
      ReleaseBlock(memory, std::exchange(blocks_.front(), entries), first_capacity_);
    }
    first_capacity_ = grown;
    return absl::OkStatus();
  }

  absl::Status AddBlock(StateMemory& memory) {
    if (capacity() + kEntriesPerBlock > kMaxEntries) {
      return absl::ResourceExhaustedError(
          "one executor stores more than 2^32 - 2 keys or tuples in one table: use more executors");
    }
    absl::StatusOr<Block> block = memory.Acquire(kBlockBytes, Contents::kAny);
    if (!block.ok()) {
      return block.status();
    }
    blocks_.push_back(reinterpret_cast<E*>(block->data));
    return absl::OkStatus();
  }

  std::vector<E*> blocks_;
  std::uint32_t first_capacity_ = 0;  // entries of the first block; of the others kEntriesPerBlock
  std::uint32_t size_ = 0;
};

}  // namespace glaive::state

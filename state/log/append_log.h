// AppendLog: a log of entries, read in the order in which they were appended. Unlike those of an EntryLog, entries have
// no numbers.
//
// Blocks grow from 4 to 256 KiB, so that many short logs take little memory and long ones have few blocks. Entries are
// never moved. Owned by one executor, used by its thread alone.
//
// Costs: an append is a comparison and a store.
//
//   AppendLog<Entry> log;
//   if (absl::Status status = log.MakeRoom(memory); !status.ok()) return status;
//   log.Append(Entry{...});
//   for (std::size_t i = 0; i < log.run_count(); ++i) Read(log.Run(i));
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "state/log/state_memory.h"

namespace glaive::state {

template <typename E>
class AppendLog {
  static_assert(std::is_trivially_copyable_v<E> && alignof(E) <= 64 && sizeof(E) <= 4096);

 public:
  /// Makes sure that the next Append has room. ResourceExhausted past the budget.
  absl::Status MakeRoom(StateMemory& memory) { return next_ != end_ ? absl::OkStatus() : AddBlock(memory); }
  /// Whether it has.
  bool has_room() const { return next_ != end_; }

  void Append(const E& entry) { *next_++ = entry; }

  /// The entries, a block at a time.
  std::size_t run_count() const { return blocks_.size(); }
  std::span<const E> Run(std::size_t number) const {
    const std::span<E> block = blocks_[number];
    return number + 1 < blocks_.size() ? block : block.first(static_cast<std::size_t>(next_ - block.data()));
  }

  void Release(StateMemory& memory) {
    for (const std::span<E> block : blocks_) {
      memory.Release(Block{.data = reinterpret_cast<std::byte*>(block.data()), .size_bytes = block.size_bytes()},
                     Contents::kAny);
    }
    *this = {};
  }

  /// Entries.
  std::uint64_t size() const {
    return full_ + (blocks_.empty() ? 0 : static_cast<std::uint64_t>(next_ - blocks_.back().data()));
  }

 private:
  static constexpr std::size_t kLeastEntries = std::max<std::size_t>(1, (std::size_t{4} << 10) / sizeof(E));
  static constexpr std::size_t kMostEntries = std::max<std::size_t>(1, (std::size_t{256} << 10) / sizeof(E));

  [[gnu::noinline]] absl::Status AddBlock(StateMemory& memory) {
    const std::size_t entries = blocks_.empty() ? kLeastEntries : std::min(2 * blocks_.back().size(), kMostEntries);
    const absl::StatusOr<Block> block = memory.Acquire(entries * sizeof(E), Contents::kAny);
    if (!block.ok()) {
      return block.status();
    }
    full_ = size();
    blocks_.emplace_back(reinterpret_cast<E*>(block->data), entries);
    next_ = blocks_.back().data();
    end_ = next_ + entries;
    return absl::OkStatus();
  }

  E* next_ = nullptr;  // in the last block
  E* end_ = nullptr;
  std::vector<std::span<E>> blocks_;
  std::uint64_t full_ = 0;  // entries of the blocks before the last
};

}  // namespace glaive::state

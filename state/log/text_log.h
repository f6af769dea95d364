// TextLog: owns the texts of what a table stores and never changes: of its keys, or of the tuples of a join. It is in
// the executor's state memory. For types without texts it is empty, and does nothing. Values that change have
// ValueTexts (value_texts.h).
//
// MakeRoom makes room for the keys of many updates at once, though the table may have most of them. The room is a spare
// block, which is used once the last block is full.
//
//   table   | key: Text ─┐ | value | key: Text ─┐ | value |
//                        ▼                      ▼
//   texts   | block: "a longer key…" "another key"  … |
//
// Owned by the table that refers to it, and released with it. Used by the executor's thread alone.
//
//   TextLog<K> texts;
//   if (absl::Status status = texts.MakeRoom(memory, TextBytes(key)); !status.ok()) return status;
//   log.Append({.key = texts.Own(key), .value = {}});
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "state/log/state_memory.h"
#include "state/record/record.h"

namespace glaive::state {

/// `R` is a key, a tuple, or an entry of both.
template <typename R>
class TextLog {
 public:
  static absl::Status MakeRoom(StateMemory& /*memory*/, std::size_t /*bytes*/) { return absl::OkStatus(); }
  template <typename Items>
  static absl::Status MakeRoomFor(StateMemory& /*memory*/, const Items& /*items*/) {
    return absl::OkStatus();
  }
  static R Own(const R& record) { return record; }
  static void Release(StateMemory& /*memory*/) {}
  static constexpr std::size_t size_bytes() { return 0; }
};

template <typename R>
  requires kHasText<R>
class TextLog<R> {
 public:
  TextLog() = default;
  TextLog(TextLog&& other) noexcept { *this = std::move(other); }
  TextLog& operator=(TextLog&& other) noexcept {
    std::swap(blocks_, other.blocks_);
    std::swap(next_, other.next_);
    std::swap(left_, other.left_);
    std::swap(spare_, other.spare_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  TextLog(const TextLog&) = delete;
  TextLog& operator=(const TextLog&) = delete;
  ~TextLog() = default;

  /// Makes sure that records can be owned whose texts refer to `bytes` in all. ResourceExhausted past the budget.
  absl::Status MakeRoom(StateMemory& memory, std::size_t bytes) {
    return bytes <= left_ || bytes <= spare_.size_bytes ? absl::OkStatus() : AddSpare(memory, bytes);
  }
  /// The same for each item's `.key`.
  template <typename Items>
  absl::Status MakeRoomFor(StateMemory& memory, const Items& items) {
    std::size_t bytes = 0;
    for (const auto& item : items) {
      bytes += TextBytes(item.key);
    }
    return MakeRoom(memory, bytes);
  }

  /// The same record, whose texts refer to the bytes here.
  R Own(const R& record) {
    if (TextBytes(record) > left_) [[unlikely]] {
      blocks_.push_back(std::exchange(spare_, Block()));
      next_ = reinterpret_cast<char*>(blocks_.back().data);
      left_ = blocks_.back().size_bytes;
    }
    R owned = record;
    char* const end = MoveTexts(owned, next_);
    left_ -= static_cast<std::size_t>(end - next_);
    next_ = end;
    return owned;
  }

  /// Gives the memory back; nothing refers to it any more.
  void Release(StateMemory& memory) {
    for (const Block& block : blocks_) {
      memory.Release(block, Contents::kAny);
    }
    if (spare_.data != nullptr) {
      memory.Release(std::exchange(spare_, Block()), Contents::kAny);
    }
    blocks_.clear();
    next_ = nullptr;
    left_ = 0;
    size_bytes_ = 0;
  }

  std::size_t size_bytes() const { return size_bytes_; }

 private:
  static constexpr std::size_t kLeastBlock = 512;
  static constexpr std::size_t kMostBlock = std::size_t{256} << 10;

  [[gnu::noinline]] absl::Status AddSpare(StateMemory& memory, std::size_t bytes) {
    const std::size_t grown = std::clamp(2 * size_bytes_, kLeastBlock, kMostBlock);
    const absl::StatusOr<Block> block = memory.Acquire(std::max(grown, bytes), Contents::kAny);
    if (!block.ok()) {
      return block.status();
    }
    size_bytes_ += block->size_bytes - spare_.size_bytes;
    if (spare_.data != nullptr) {
      memory.Release(spare_, Contents::kAny);
    }
    spare_ = *block;
    return absl::OkStatus();
  }

  std::vector<Block> blocks_;  // in use
  Block spare_;                // for texts that do not fit the last one
  char* next_ = nullptr;       // in the last block
  std::size_t left_ = 0;
  std::size_t size_bytes_ = 0;  // of all blocks
};

}  // namespace glaive::state

// TextArena: owns the bytes that texts refer to, for as long as the records are stored that have them.
//
//   records  | … | Text ─┐ | … | Text ─┐ |
//                        ▼             ▼
//   arena    | first block: "a longer text…" "another text" | second block … |
//
// Blocks are between 4 KiB and 1 MiB, unless the texts of a single record are longer. Clear returns all blocks but one
// of these, which the next texts use. Owned by one thread.
//
//   TextArena arena;
//   records.push_back(arena.Own(record));   // its texts refer to the arena
//   arena.Clear();                          // after records.clear()
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "state/record/record.h"

namespace glaive::state {

class TextArena {
 public:
  /// The same record, or text, whose texts it owns.
  template <typename R>
    requires kHasText<R>
  R Own(const R& record) {
    R owned = record;
    Adopt(owned);
    return owned;
  }
  /// A record without texts is as it is.
  template <typename R>
    requires(!kHasText<R>)
  static R Own(const R& record) {
    return record;
  }

  /// Copies the texts of a record, if it has any, and makes it refer to the copies.
  template <typename R>
  void Adopt(R& record) {
    if constexpr (kHasText<R>) {
      const std::size_t bytes = TextBytes(record);
      if (left_ < bytes) [[unlikely]] {
        AddBlock(bytes);
      }
      next_ = MoveTexts(record, next_);
      left_ -= bytes;
      used_bytes_ += bytes;
    }
  }

  /// Nothing refers to its texts any more.
  void Clear() {
    std::erase_if(blocks_, [](const Block& block) { return block.size_bytes > kMostBlock; });
    if (blocks_.size() > 1) {
      std::swap(blocks_.front(), *std::ranges::max_element(blocks_, {}, &Block::size_bytes));
      blocks_.resize(1);
    }
    used_bytes_ = 0;
    next_ = blocks_.empty() ? nullptr : blocks_.front().bytes.get();
    left_ = blocks_.empty() ? 0 : blocks_.front().size_bytes;
  }

  /// Of texts since the last Clear.
  std::size_t used_bytes() const { return used_bytes_; }
  /// That it has taken from the system.
  std::size_t size_bytes() const {
    std::size_t bytes = 0;
    for (const Block& block : blocks_) {
      bytes += block.size_bytes;
    }
    return bytes;
  }

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size_bytes = 0;
  };

  static constexpr std::size_t kLeastBlock = std::size_t{4} << 10;
  static constexpr std::size_t kMostBlock = std::size_t{1} << 20;

  void AddBlock(std::size_t least_bytes) {
    const std::size_t grown =
        blocks_.empty() ? kLeastBlock : std::clamp(2 * blocks_.back().size_bytes, kLeastBlock, kMostBlock);
    const std::size_t size_bytes = std::max(grown, least_bytes);
    blocks_.push_back({.bytes = std::make_unique_for_overwrite<char[]>(size_bytes), .size_bytes = size_bytes});
    next_ = blocks_.back().bytes.get();
    left_ = size_bytes;
  }

  std::vector<Block> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t used_bytes_ = 0;
};

}  // namespace glaive::state

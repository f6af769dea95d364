// WordTable: a count per word by open addressing with linear probing, as one would write it by hand. It has one of two
// kinds of cells:
//
//   WordView    a hash of the word, and a view of it where it came first: the table that one would write first
//   WordInCell  a word of up to 15 bytes itself, so that most words are compared without their bytes elsewhere
//
// Cells are on huge pages where the system has them, at most a half full. All memory is mapped and touched at creation.
// Move-only, used by one thread.
//
//   absl::StatusOr<WordTable<WordView>> counts = WordTable<WordView>::Create(/*words=*/100'000);
//   counts->Count("word");
//   counts->ForEach([](std::string_view word, std::uint64_t count) { ... });
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "queries/loops/table_memory.h"
#include "rdma/base/check.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace glaive::queries::wordcount {

/// A cell with a hash and a view of its word.
struct WordView {
  using Key = std::uint64_t;

  static Key KeyOf(std::string_view word) { return XXH3_64bits(word.data(), word.size()); }
  static std::uint64_t HashOf(Key key) { return key; }

  static WordView First(Key key, std::string_view word) { return {.key = key, .bytes = word, .count = 1}; }
  bool Has(Key its_key, std::string_view its_word) const { return key == its_key && bytes == its_word; }
  std::string_view word() const { return bytes; }

  Key key;
  std::string_view bytes;
  std::uint64_t count;  // 0: empty
};

/// A cell with its word in two numbers, if that is short. Of a longer one it has a hash, and a view of the word where
/// it came first.
struct WordInCell {
  /// The bytes of a word, with its length in the highest byte of `rest`. Of a long one its hash, kIsLong and its
  /// length.
  struct Key {
    std::uint64_t first;
    std::uint64_t rest;
  };

  static Key KeyOf(std::string_view word) {
    const std::size_t size = word.size();
    if (size <= sizeof(std::uint64_t)) {
      return {.first = Load(word.data(), size), .rest = size << kLengthShift};
    }
    if (size <= kMostInCell) {
      return {.first = Load(word.data(), size),
              .rest = Load(word.data() + sizeof(std::uint64_t), size - sizeof(std::uint64_t)) | size << kLengthShift};
    }
    GLAIVE_CHECK(size <= kMostLong, "a word of ", size, " bytes");
    return {.first = XXH3_64bits(word.data(), size), .rest = kIsLong << kLengthShift | size};
  }
  /// Both halves of a product of 128 bits.
  static std::uint64_t HashOf(const Key& key) {
    __extension__ using Uint128 = unsigned __int128;
    const Uint128 product = Uint128{key.first ^ 0x9e3779b97f4a7c15} * (key.rest ^ 0xbf58476d1ce4e5b9);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  static WordInCell First(const Key& key, std::string_view word) {
    return {.key = key, .bytes = word.data(), .count = 1};
  }
  bool Has(const Key& its_key, std::string_view its_word) const {
    return key.first == its_key.first && key.rest == its_key.rest &&
           (its_word.size() <= kMostInCell || std::memcmp(bytes, its_word.data(), its_word.size()) == 0);
  }
  std::string_view word() const {
    const std::uint64_t length = key.rest >> kLengthShift;
    return {bytes, length == kIsLong ? key.rest & kMostLong : length};
  }

  Key key;
  const char* bytes;
  std::uint64_t count;  // 0: empty

 private:
  static constexpr std::size_t kMostInCell = 15;
  static constexpr int kLengthShift = 56;
  static constexpr std::uint64_t kIsLong = 0xFF;
  static constexpr std::uint64_t kMostLong = 0xFFFFFFFF;

  /// 0 to 8 bytes, with zeros behind them.
  static std::uint64_t Load(const char* bytes, std::size_t size) {
    if (size >= sizeof(std::uint64_t)) {
      std::uint64_t all;
      std::memcpy(&all, bytes, sizeof(all));
      return all;
    }
    if (size >= sizeof(std::uint32_t)) {
      std::uint32_t begin;
      std::uint32_t end;
      std::memcpy(&begin, bytes, sizeof(begin));
      std::memcpy(&end, bytes + size - sizeof(end), sizeof(end));
      return begin | std::uint64_t{end} << 8 * (size - sizeof(end));
    }
    const auto at = [bytes](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i; };
    return size == 0 ? 0 : at(0) | at(size / 2) | at(size - 1);
  }
};

/// `Cell` is a WordView or a WordInCell.
template <typename Cell>
class WordTable {
  static_assert(sizeof(Cell) == 32);

 public:
  /// Bytes of memory for so many words, at most 2^31.
  static std::uint64_t MemoryBytes(std::uint64_t words) {
    return std::bit_ceil(2 * std::min(words, kMostWords)) * sizeof(Cell);
  }

  /// Room for `words` distinct words. InvalidArgument for none, and for more than 2^31.
  static absl::StatusOr<WordTable> Create(std::uint64_t words) {
    if (words == 0 || words > kMostWords) {
      return absl::InvalidArgumentError(
          absl::StrCat("a hand-written loop cannot count ", words, " words; it takes 1 to ", kMostWords));
    }
    absl::StatusOr<TableMemory> memory = TableMemory::Map(MemoryBytes(words));
    if (!memory.ok()) {
      return memory.status();
    }
    return WordTable(*std::move(memory), MemoryBytes(words) / sizeof(Cell));
  }

  /// Counts a word, which is not empty and stays where it is. More words than the table was made for end the process.
  void Count(std::string_view word) {
    const typename Cell::Key key = Cell::KeyOf(word);
    for (std::uint64_t i = Cell::HashOf(key) & mask_;; i = (i + 1) & mask_) {
      Cell& cell = cells_[i];
      if (cell.Has(key, word)) {
        ++cell.count;
        return;
      }
      if (cell.count == 0) {
        cell = Cell::First(key, word);
        GLAIVE_CHECK(++used_ <= mask_ / 2 + 1, "more than ", mask_ / 2 + 1, " words in a hand-written loop");
        return;
      }
    }
  }

  /// Calls `visit(word, count)` for every word.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (std::uint64_t i = 0; i <= mask_; ++i) {
      if (cells_[i].count > 0) {
        visit(cells_[i].word(), cells_[i].count);
      }
    }
  }

 private:
  static constexpr std::uint64_t kMostWords = std::uint64_t{1} << 31;

  WordTable(TableMemory memory, std::uint64_t cells)
      : memory_(std::move(memory)), cells_(static_cast<Cell*>(memory_.data())), mask_(cells - 1) {}

  TableMemory memory_;
  Cell* cells_;
  std::uint64_t mask_;
  std::uint64_t used_ = 0;
};

}  // namespace glaive::queries::wordcount

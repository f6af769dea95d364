// WordViewTable: a count per word by open addressing with linear probing over views of the words: a cell has a hash,
// the address and the length of the word where it came first, and the count. See word_table.h for a faster one.
//
// Cells are on huge pages where the system has them, at most a half full. All memory is mapped and touched at creation.
// Move-only, used by one thread.
//
//   absl::StatusOr<WordViewTable> counts = WordViewTable::Create(/*words=*/100'000);
//   counts->Count("word");
//   counts->ForEach([](std::string_view word, std::uint64_t count) { ... });
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

#include "bench/baseline/table_memory.h"
#include "rdma/base/check.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace glaive::bench {

class WordViewTable {
 public:
  /// Room for `words` distinct words. See CellsFor for the errors.
  static absl::StatusOr<WordViewTable> Create(std::uint64_t words) {
    const absl::StatusOr<std::uint64_t> cells = CellsFor(words);
    if (!cells.ok()) {
      return cells.status();
    }
    absl::StatusOr<TableMemory> memory = TableMemory::Map(*cells * sizeof(Cell));
    if (!memory.ok()) {
      return memory.status();
    }
    return WordViewTable(*std::move(memory), *cells);
  }

  /// Counts a word, which is not empty and stays where it is. More words than the table was made for end the process.
  void Count(std::string_view word) {
    const std::uint64_t hash = XXH3_64bits(word.data(), word.size());
    for (std::uint64_t i = hash & mask_;; i = (i + 1) & mask_) {
      Cell& cell = cells_[i];
      if (cell.hash == hash && cell.word == word) {
        ++cell.count;
        return;
      }
      if (cell.count == 0) {
        cell = {.hash = hash, .word = word, .count = 1};
        GLAIVE_CHECK(++used_ <= mask_ / 2 + 1, "more than ", mask_ / 2 + 1, " words in the baseline");
        return;
      }
    }
  }

  /// Calls `visit(word, count)` for every word.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (std::uint64_t i = 0; i <= mask_; ++i) {
      if (cells_[i].count > 0) {
        visit(cells_[i].word, cells_[i].count);
      }
    }
  }

 private:
  struct Cell {
    std::uint64_t hash;
    std::string_view word;
    std::uint64_t count;  // 0: empty
  };
  static_assert(sizeof(Cell) == 32);

  WordViewTable(TableMemory memory, std::uint64_t cells)
      : memory_(std::move(memory)), cells_(static_cast<Cell*>(memory_.data())), mask_(cells - 1) {}

  TableMemory memory_;
  Cell* cells_;
  std::uint64_t mask_;
  std::uint64_t used_ = 0;
};

}  // namespace glaive::bench

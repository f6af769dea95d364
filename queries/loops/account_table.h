// AccountTable: an account per key by open addressing with linear probing, as one would write it by hand.
//
// Cells of a key and its account on huge pages where the system has them, hashed by multiplication, about six tenths
// full at most. Grows by doubling and never shrinks, so that scanning it stays cheap while few keys are in use; all
// memory it can grow into is mapped and touched at creation. Move-only, used by one thread.
//
//   absl::StatusOr<AccountTable<Count>> counts = AccountTable<Count>::Create(/*keys=*/1'000);
//   counts->Fold(keys, std::identity{}, [](Count& account, std::uint64_t) { ++account.count; });
//   counts->Drain([](std::uint64_t key, const Count& account) { ... });
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "queries/loops/table_memory.h"
#include "queries/loops/table_size.h"
#include "rdma/base/check.h"

namespace glaive::queries {

template <typename OfKey>
class AccountTable {
  static_assert(std::is_trivially_copyable_v<OfKey>);

 public:
  using Key = std::uint64_t;
  using Account = OfKey;

  /// Bytes of memory for so many keys, at most 2^32.
  static std::uint64_t MemoryBytes(std::uint64_t keys) {
    const int bits = TableBitsFor(keys);
    return (sizeof(Cell) << bits) + (sizeof(Cell) << (bits - 1));
  }

  /// Room for `keys` distinct keys.
  static absl::StatusOr<AccountTable> Create(std::uint64_t keys) {
    if (keys == 0 || keys > kMostTableKeys) {
      return absl::InvalidArgumentError(
          absl::StrCat("a hand-written loop cannot store ", keys, " keys; it takes 1 to ", kMostTableKeys));
    }
    const int most_bits = TableBitsFor(keys);
    absl::StatusOr<TableMemory> largest = TableMemory::Map(sizeof(Cell) << most_bits);
    absl::StatusOr<TableMemory> second_largest = TableMemory::Map(sizeof(Cell) << (most_bits - 1));
    if (!largest.ok() || !second_largest.ok()) {
      return largest.ok() ? second_largest.status() : largest.status();
    }
    if (most_bits % 2 != 0) {
      std::swap(largest, second_largest);
    }
    return AccountTable(*std::move(largest), *std::move(second_largest), most_bits);
  }

  /// The most records that one call of Fold takes.
  static constexpr std::size_t kRecordsAtOnce = 256;

  /// Calls `update(account, record)` for each record, with the account of `key_of(record)`, which is not 0; one of
  /// zeros if the key is new. More keys than the table was made for end the process.
  template <typename R, typename KeyOf, typename Update>
  void Fold(std::span<const R> records, const KeyOf& key_of, const Update& update) {
    if (used_ + records.size() > limit_) [[unlikely]] {
      GrowFor(records.size());
    }
    // The compiler cannot know that accounts don't overlap the table's own fields.
    Cell* const cells = cells_;
    const std::size_t mask = mask_;
    const int shift = shift_;
    std::size_t new_keys = 0;
    for (const R& record : records) {
      const std::uint64_t key = key_of(record);
      std::size_t i = Home(key, shift);
      while (cells[i].key != key && cells[i].key != 0) {
        i = (i + 1) & mask;
      }
      new_keys += cells[i].key == 0 ? 1 : 0;
      cells[i].key = key;
      update(cells[i].account, record);
    }
    used_ += new_keys;
  }

  /// Calls `emit(key, account)` for every key, and empties the table.
  template <typename Emit>
  void Drain(Emit emit) {
    for (std::size_t i = 0; i <= mask_; ++i) {
      if (cells_[i].key != 0) {
        emit(cells_[i].key, cells_[i].account);
        cells_[i] = {};
      }
    }
    used_ = 0;
  }

 private:
  struct Cell {
    std::uint64_t key = 0;  // 0: empty
    Account account = {};
  };

  AccountTable(TableMemory even, TableMemory odd, int most_bits)
      : memory_{std::move(even), std::move(odd)}, most_bits_(most_bits) {
    Resize(kSmallestTableBits);
  }

  static std::size_t Home(std::uint64_t key, int shift) { return (key * 0x9e3779b97f4a7c15) >> shift; }

  void Resize(int bits) {
    bits_ = bits;
    shift_ = 64 - bits;
    mask_ = (std::size_t{1} << bits) - 1;
    limit_ = TableLimit(bits);
    cells_ = static_cast<Cell*>(memory_[static_cast<std::size_t>(bits % 2)].data());
  }

  void GrowFor(std::size_t keys) {
    GLAIVE_CHECK(keys <= kRecordsAtOnce, keys, " records were added at once");
    while (used_ + keys > limit_ && bits_ < most_bits_) {
      Grow();
    }
    // Some of `keys` may be known already, so the largest table is only full once it has more. The cells above the
    // limit hold any kRecordsAtOnce keys.
    GLAIVE_CHECK(used_ <= limit_, "more than ", limit_, " keys in a window of a hand-written loop");
  }

  void Grow() {
    const std::span<Cell> old(cells_, mask_ + 1);
    Resize(bits_ + 1);
    for (Cell& cell : old) {
      if (cell.key == 0) {
        continue;
      }
      std::size_t i = Home(cell.key, shift_);
      while (cells_[i].key != 0) {
        i = (i + 1) & mask_;
      }
      cells_[i] = std::exchange(cell, {});
    }
  }

  std::array<TableMemory, 2> memory_;  // tables of 2^n cells use the one of n % 2: growing moves from one to the other
  int most_bits_;
  int bits_ = 0;
  int shift_ = 0;
  std::size_t mask_ = 0;
  std::size_t used_ = 0;
  std::size_t limit_ = 0;  // six tenths of the cells
  Cell* cells_ = nullptr;
};

}  // namespace glaive::queries

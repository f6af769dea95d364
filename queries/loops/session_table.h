// SessionTable: a session of each key by open addressing with linear probing, as one would write it by hand.
//
// Cells of a key and its session, hashed by multiplication, six tenths full at most, all mapped and touched at
// creation. A key's cell stays when its session ends, so nothing is ever removed and no probe is cut short.
// Move-only, used by one thread.
//
//   absl::StatusOr<SessionTable<CountedSession>> table = SessionTable<CountedSession>::Create(/*keys=*/1'000);
//   CountedSession& session = table->CellOf(key);
//   for (CountedSession& each : table->cells()) ...
#pragma once

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

namespace glaive::queries {

/// `Session` has a `key`, and its bytes are all zero where there is none.
template <typename Session>
class SessionTable {
  static_assert(std::is_trivially_copyable_v<Session>);

 public:
  /// Bytes of memory for so many keys, at most 2^32.
  static std::uint64_t MemoryBytes(std::uint64_t keys) { return sizeof(Session) << TableBitsFor(keys); }

  /// Room for `keys` distinct keys; a table of more never ends a search.
  static absl::StatusOr<SessionTable> Create(std::uint64_t keys) {
    if (keys == 0 || keys > kMostTableKeys) {
      return absl::InvalidArgumentError(
          absl::StrCat("a hand-written loop cannot store sessions of ", keys, " keys; it takes 1 to ", kMostTableKeys));
    }
    const int bits = TableBitsFor(keys);
    absl::StatusOr<TableMemory> memory = TableMemory::Map(sizeof(Session) << bits);
    return memory.ok() ? absl::StatusOr<SessionTable>(SessionTable(*std::move(memory), bits)) : memory.status();
  }

  /// The cell of a key, which is not 0.
  Session& CellOf(std::uint64_t key) {
    std::size_t i = (key * 0x9e3779b97f4a7c15) >> shift_;
    while (cells_[i].key != key && cells_[i].key != 0) {
      i = (i + 1) & mask_;
    }
    cells_[i].key = key;
    return cells_[i];
  }

  /// All cells, those without a key, too.
  std::span<Session> cells() { return {cells_, mask_ + 1}; }

 private:
  SessionTable(TableMemory memory, int bits)
      : memory_(std::move(memory)),
        cells_(static_cast<Session*>(memory_.data())),
        shift_(64 - bits),
        mask_((std::size_t{1} << bits) - 1) {}

  TableMemory memory_;
  Session* cells_;
  int shift_;
  std::size_t mask_;
};

}  // namespace glaive::queries

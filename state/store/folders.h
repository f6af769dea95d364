// Folders: fold records into the cells of a slice in the loop of a chain, before any call of the store.
//
// PartitionedStore::UseFolder chooses one; the loop (engine/stage/fold_loop.h) is compiled for each:
//
//   NoFolder                 takes nothing: tuples of joins, and keys or values with texts that have no cells
//   AppendFolder             appends to the segments of leaders, or takes nothing (append_folder.h)
//   CellFolder, in cache     takes the records of known keys at once
//   CellFolder, outside it   prefetches a record's cell, and takes the record when others are pending behind it
//   OnlyFolder               the cell of a query without keys: has its form in registers for the time of the loop
//
// All are values, which the loop copies and hands back:
//
//   kFoldsAhead              whether the loop calls Prefetch(key) when a record becomes pending, and TryFold later
//   TryFold(key, input)      whether the record is in the state now; if not, PartitionedStore::Take has to bring it
//   folded()                 how many records it has taken
#pragma once

#include <cstddef>

#include "state/crdt/compact_form.h"
#include "state/index/key_hash.h"
#include "state/record/record.h"
#include "state/store/cell_table.h"

namespace glaive::state {

/// Whether a key and its value's compact form fit a cache line. Cells own no texts of values.
template <typename K, typename V>
inline constexpr bool kFitsCells = sizeof(K) + sizeof(CompactForm<V>) <= 64 && !kHasText<V>;

template <StateKey K, typename V>
struct NoFolder {
  static constexpr bool kFoldsAhead = false;

  static constexpr bool TryFold(const K& /*key*/, const typename V::Input& /*input*/) { return false; }
  static constexpr std::size_t folded() { return 0; }
};

/// `kOutsideCache` says where the cells are. Outside the cache it gives new keys their cells, too: cells() has to
/// replace the table's. New keys with texts are for Take, since their texts need memory.
template <StateKey K, typename V, bool kOutsideCache>
class CellFolder {
 public:
  static constexpr bool kFoldsAhead = kOutsideCache;
  using Cells = CellTable<K, CompactForm<V>>;

  explicit CellFolder(const Cells& cells) : cells_(cells) {}

  [[gnu::always_inline]] void Prefetch(const K& key) const { cells_.Prefetch(cells_.HomeOf(key)); }
  [[gnu::always_inline]] bool TryFold(const K& key, const typename V::Input& input) {
    CompactForm<V>* const form = FormOf(key);
    if (form == nullptr || !form->TryUpdate(input)) [[unlikely]] {
      return false;
    }
    ++folded_;
    return true;
  }
  std::size_t folded() const { return folded_; }
  const Cells& cells() const { return cells_; }

 private:
  [[gnu::always_inline]] CompactForm<V>* FormOf(const K& key) {
    const CellHome home = cells_.HomeOf(key);
    if constexpr (kOutsideCache && !kHasText<K>) {
      return cells_.FindOrInsert(home, key);
    } else {
      return cells_.Find(home, key);
    }
  }

  Cells cells_;  // a copy: its fields need not be read again after each update
  std::size_t folded_ = 0;
};

/// Its form has to replace the cell's.
template <StateKey K, typename V>
class OnlyFolder {
 public:
  static constexpr bool kFoldsAhead = false;

  explicit OnlyFolder(const CompactForm<V>& form) : form_(form) {}

  [[gnu::always_inline]] bool TryFold(const K& /*key*/, const typename V::Input& input) {
    if (!form_.TryUpdate(input)) [[unlikely]] {
      return false;
    }
    ++folded_;
    return true;
  }
  std::size_t folded() const { return folded_; }
  const CompactForm<V>& form() const { return form_; }

 private:
  CompactForm<V> form_;
  std::size_t folded_ = 0;
};

/// Calls `use(folder)` with a folder for records of the keys in `cells`, which fit the cache; `use` returns the folder.
/// Returns how many records it has taken.
template <StateKey K, typename V, typename UseFn>
std::size_t FoldIntoCells(CellTable<K, CompactForm<V>>& cells, const UseFn& use) {
  if constexpr (OnlyKey<K>) {
    if (CompactForm<V>* const form = cells.Find(cells.HomeOf(K()), K()); form != nullptr) {
      const auto folder = use(OnlyFolder<K, V>(*form));
      *form = folder.form();
      return folder.folded();
    }
  }
  return use(CellFolder<K, V, /*kOutsideCache=*/false>(cells)).folded();
}

}  // namespace glaive::state

// Folders: how records are folded into the slots of a slice in the loop of a pipeline, before any call of the store.
//
// PartitionedStore::UseFolder chooses one; the loop (engine/stage/record_stage.h) is compiled for each:
//
//   NoFolder      takes nothing: there are no slots
//   SlotFolder    slots that fit the cache: takes the records of known keys at once
//   AheadFolder   slots outside the cache: prefetches a record's slot, and takes the record some others later
//   OnlyFolder    the slot of a query without keys: keeps its form in registers for the time of the loop
//
// All are values, which the loop copies and hands back:
//
//   kFoldsAhead               whether Prefetch(key) is to be called some records before TryFold
//   Prefetch(key)             starts loading what TryFold will need
//   TryFold(key, input)       whether the record is in the state now; if not, PartitionedStore::Take has to bring it
//   folded()                  how many records it has taken
#pragma once

#include <cstddef>

#include "state/crdt/compact_form.h"
#include "state/index/key_hash.h"
#include "state/store/slot_table.h"

namespace glaive::state {

template <StateKey K, typename V>
struct NoFolder {
  static constexpr bool kFoldsAhead = false;

  void Prefetch(const K& /*key*/) const {}
  static constexpr bool TryFold(const K& /*key*/, const typename V::Input& /*input*/) { return false; }
  static constexpr std::size_t folded() { return 0; }
};

template <StateKey K, typename V>
class SlotFolder {
 public:
  static constexpr bool kFoldsAhead = false;
  using Slots = SlotTable<K, CompactForm<V>>;

  explicit SlotFolder(const Slots& slots) : slots_(slots) {}

  void Prefetch(const K& /*key*/) const {}
  [[gnu::always_inline]] bool TryFold(const K& key, const typename V::Input& input) {
    auto* const form = slots_.Find(slots_.HomeOfKey(key), key);
    if (form == nullptr || !form->TryUpdate(input)) {
      return false;
    }
    ++folded_;
    return true;
  }
  std::size_t folded() const { return folded_; }

 private:
  Slots slots_;  // a copy: its fields need not be read again after each update
  std::size_t folded_ = 0;
};

/// Gives new keys their slots, too: slots() has to replace the table's.
template <StateKey K, typename V>
class AheadFolder {
 public:
  static constexpr bool kFoldsAhead = true;
  using Slots = SlotTable<K, CompactForm<V>>;

  explicit AheadFolder(const Slots& slots) : slots_(slots) {}

  [[gnu::always_inline]] void Prefetch(const K& key) const { slots_.Prefetch(slots_.HomeOfKey(key)); }
  [[gnu::always_inline]] bool TryFold(const K& key, const typename V::Input& input) {
    auto* const form = slots_.FindOrInsert(slots_.HomeOfKey(key), key);
    if (form == nullptr || !form->TryUpdate(input)) [[unlikely]] {
      return false;
    }
    ++folded_;
    return true;
  }
  std::size_t folded() const { return folded_; }
  const Slots& slots() const { return slots_; }

 private:
  Slots slots_;
  std::size_t folded_ = 0;
};

/// Its form has to replace the slot's.
template <StateKey K, typename V>
class OnlyFolder {
 public:
  static constexpr bool kFoldsAhead = false;

  explicit OnlyFolder(const CompactForm<V>& form) : form_(form) {}

  void Prefetch(const K& /*key*/) const {}
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

/// Calls `use(folder)` with a folder for records of the keys in `slots`; `use` returns the folder. Returns how many
/// records it has taken.
template <StateKey K, typename V, typename UseFn>
std::size_t FoldIntoSlots(SlotTable<K, CompactForm<V>>& slots, const UseFn& use) {
  if constexpr (OnlyKey<K>) {
    if (CompactForm<V>* const form = slots.Find(slots.HomeOfKey(K()), K()); form != nullptr) {
      const auto folder = use(OnlyFolder<K, V>(*form));
      *form = folder.form();
      return folder.folded();
    }
  }
  return use(SlotFolder<K, V>(slots)).folded();
}

}  // namespace glaive::state

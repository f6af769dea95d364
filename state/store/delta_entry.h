// DeltaEntry: one key's change. It has the same bytes behind the chain that makes it, in a segment, and on the wire.
//
//   DeltaUpdate   offset 0: the key's bytes, then the input of the aggregate from one record
//   DeltaForm     offset 0: the key's bytes, then the compact form of a value that some records were folded into
//
// (The second member lies at the next multiple of its alignment.) The slice of an entry stands in the header of its run
// (state/epoch/delta_layout.h). Byte order is the host's; nodes of one run share it.
//
//   ApplyEntry{}(value, entry);                // to a whole value
//   if (!ApplyEntry{}(form, entry)) ...        // to a compact form, which may refuse it
#pragma once

#include <tuple>
#include <type_traits>

#include "state/crdt/compact_form.h"
#include "state/crdt/crdt.h"
#include "state/epoch/delta_layout.h"
#include "state/index/key_hash.h"
#include "state/record/record.h"

namespace glaive::state {

/// Its texts are those of the key and of the input. Alignments are 8 at most: entries lie at multiples of 8 bytes in a
/// ring.
template <StateKey K, typename InputT>
struct DeltaUpdate {
  static_assert(std::is_trivially_copyable_v<InputT> && alignof(InputT) <= 8,
                "glaive: what an aggregate reads of a record travels as its bytes: no pointers, no strings");
  static constexpr DeltaKind kKind = DeltaKind::kUpdate;
  using Input = InputT;
  using Members = std::tuple<K, InputT>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("key", self.key);
    visit("", self.input);
  }

  K key;
  [[no_unique_address]] InputT input;
};

/// Its texts are those of the key: values with texts have no forms (PartitionedStore).
template <StateKey K, typename V>
struct DeltaForm {
  static_assert(alignof(CompactForm<V>) <= 8);
  static constexpr DeltaKind kKind = DeltaKind::kForm;
  using Members = std::tuple<K, CompactForm<V>>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("key", self.key);
  }

  K key;
  CompactForm<V> form;
};

/// Applies an entry to the value of its key, or to a compact form; the latter says whether it took the entry, and has
/// not changed if not.
struct ApplyEntry {
  template <typename V, typename K>
  [[gnu::always_inline]] void operator()(V& value, const DeltaUpdate<K, typename V::Input>& entry) const {
    value.Update(entry.input);
  }
  template <typename V, typename K>
  void operator()(V& value, const DeltaForm<K, V>& entry) const {
    value.Merge(entry.form.Expanded());
  }
  template <typename V, typename K>
  [[gnu::always_inline]] bool operator()(CompactForm<V>& form, const DeltaUpdate<K, typename V::Input>& entry) const {
    return form.TryUpdate(entry.input);
  }
  template <typename V, typename K>
  [[gnu::always_inline]] bool operator()(CompactForm<V>& form, const DeltaForm<K, V>& entry) const {
    return form.TryMerge(entry.form);
  }
};

}  // namespace glaive::state

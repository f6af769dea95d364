// StagedUpdate: a record that survived the pipeline, reduced to what its update needs; and FoldRecord, which updates.
#pragma once

#include <cstdint>

#include "state/crdt/compact_form.h"
#include "state/index/key_hash.h"

namespace glaive::state {

/// `hash` is HashKey(key); `input` is what the aggregate reads of the record.
template <StateKey K, typename InputT>
struct StagedUpdate {
  using Input = InputT;

  std::uint64_t hash;
  K key;
  [[no_unique_address]] InputT input;
};

/// Folds a staged update into the value of its key, or into a slot's form; says whether the form took it.
struct FoldRecord {
  template <typename V, typename Update>
  [[gnu::always_inline]] void operator()(V& value, const Update& update) const {
    value.Update(update.input);
  }
  template <typename V, typename Update>
  [[gnu::always_inline]] bool operator()(CompactForm<V>& form, const Update& update) const {
    return form.TryUpdate(update.input);
  }
};

}  // namespace glaive::state

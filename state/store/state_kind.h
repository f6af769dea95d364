// StateKind: chooses the tables for values of a type: one value for each key, which updates change, or, for an append
// set, an entry for each update.
#pragma once

#include "state/crdt/appended.h"
#include "state/index/key_hash.h"
#include "state/store/append_table.h"
#include "state/store/slice_table.h"

namespace glaive::state {

template <StateKey K, typename V>
struct StateKind {
  using Table = SliceTable<K, V>;
};
template <StateKey K, typename T>
struct StateKind<K, Appended<T>> {
  using Table = AppendTable<K, Appended<T>>;
};

}  // namespace glaive::state

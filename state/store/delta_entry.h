// DeltaEntry: one key's change in a fragment, as it lies in a log segment and on the wire.
//
//   offset      size        field
//        0         8        slice   number of the window slice, signed
//        8         sizeof K key     the key's bytes
//        …         sizeof V value   the CRDT value's bytes: what to merge (at the next multiple of its alignment)
//
// Byte order is the host's; nodes of one run share it.
#pragma once

#include <cstddef>

#include "state/index/key_hash.h"
#include "state/store/slice_id.h"

namespace glaive::state {

template <StateKey K, typename V>
struct DeltaEntry {
  static_assert(alignof(V) <= 8, "payloads lie at multiples of 8 bytes in a ring");

  SliceId slice;
  K key;
  V value;
};

}  // namespace glaive::state

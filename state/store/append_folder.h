// AppendFolder: the folder (folders.h) of a store that hands over each record as an update: it appends records in the
// loop of a chain to the segments of the leaders of their keys.
//
// It serves an executor that leads no key, such as a partitioner of a re-partitioning run. The updates of an executor
// that leads keys itself would need a second way, to its own partition. Without a fragment the folder takes no record.
//
// A record whose leader's segment is full starts the next segment, if one is free. If none is free, the folder does not
// take the record. PartitionedStore::Take brings it, once there is room. Where few segments are free, the store hands
// out a folder without a fragment, so that other inputs get segments, too.
#pragma once

#include <cstddef>

#include "state/index/key_hash.h"
#include "state/index/leaders.h"
#include "state/store/delta_entry.h"
#include "state/store/fragment.h"

namespace glaive::state {

template <StateKey K, typename V>
class AppendFolder {
 public:
  static constexpr bool kFoldsAhead = false;

  /// Takes no record.
  explicit AppendFolder(const Leaders& leaders) : leaders_(leaders) {}
  /// Appends to `fragment`, which outlives it, and whose Begin has the records' slice. The executor leads no key.
  AppendFolder(Fragment& fragment, const Leaders& leaders, const KeyHash& hash)
      : fragment_(&fragment), leaders_(leaders), hash_(hash) {}

  [[gnu::always_inline]] bool TryFold(const K& key, const typename V::Input& input) {
    if (fragment_ == nullptr ||
        !fragment_->TryAppend(leaders_.NumberOf(hash_(key)), DeltaUpdate<K, typename V::Input>{key, input})) {
      return false;
    }
    ++appended_;
    return true;
  }
  std::size_t folded() const { return appended_; }

 private:
  Fragment* fragment_ = nullptr;
  Leaders leaders_;
  KeyHash hash_;
  std::size_t appended_ = 0;
};

}  // namespace glaive::state

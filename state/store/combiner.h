// Combiner: an array in which an executor folds the records of a slice before it hands them to their leaders. It has
// keys beside compact forms, is of bounded size, and takes keys whichever executor leads them.
//
// A combiner never evicts a key, and never chains. A record whose new key finds no cell is handed over as it is. If a
// form refuses an update, the form is handed over, too (compact_form.h). A combiner starts small, and takes eight times
// as many keys when it is full, up to a limit. So few keys are read out quickly.
//
// Owned by one executor, used by its thread alone.
//
//   1. All keys are of one slice.
//   2. Its records are not in the state of any leader: read it out before a watermark is passed on (I3).
//
// Costs: an update of a known key is one probe of an array; reading out scans the array. Cells of an array that exceeds
// the cache are prefetched, as those of a window (folders.h).
//
//   auto combiner = Combiner<std::uint64_t, CountValue>::Create(memory, 1 << 20);
//   CompactForm<CountValue>* form = combiner->FindOrInsert(key);
//   while (const std::size_t count = combiner->ReadOut(memory, forms)) HandOver(forms.first(count));
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

#include "state/crdt/compact_form.h"
#include "state/epoch/slice_id.h"
#include "state/index/key_hash.h"
#include "state/log/state_memory.h"
#include "state/log/text_log.h"
#include "state/store/cell_table.h"
#include "state/store/delta_entry.h"
#include "state/store/folders.h"

namespace glaive::state {

template <StateKey K, typename V>
class Combiner {
 public:
  using Form = CompactForm<V>;
  using Cells = CellTable<K, Form>;

  /// Without cells, of no use.
  Combiner() = default;

  /// An empty combiner, which grows to about `most_bytes`. ResourceExhausted past the budget.
  static absl::StatusOr<Combiner> Create(StateMemory& memory, std::uint64_t most_bytes) {
    Combiner combiner;
    combiner.most_bytes_ = most_bytes;
    combiner.most_keys_ = std::max<std::uint64_t>(most_bytes * 2 / (3 * sizeof(typename Cells::Entry)), 1);
    combiner.planned_keys_ = std::min(kFewestKeys, combiner.most_keys_);
    absl::StatusOr<Cells> cells = Cells::Create(memory, combiner.planned_keys_);
    if (!cells.ok()) {
      return cells.status();
    }
    combiner.cells_ = *cells;
    return combiner;
  }

  bool empty() const { return cells_.size() == 0; }
  std::uint32_t size() const { return cells_.size(); }
  std::size_t size_bytes() const { return cells_.size_bytes(); }
  /// Of all its keys; anything if it is empty.
  SliceId slice() const { return slice_; }
  /// Makes it take keys of a slice; it is empty.
  void BeginSlice(SliceId slice) { slice_ = slice; }

  /// Whether new keys find no cell.
  bool full() const { return cells_.full(); }
  /// Whether it could take more keys with more memory.
  bool wants_to_grow() const { return cells_.full() && planned_keys_ < most_keys_; }
  /// Whether the texts of its keys take more memory than it was meant to.
  bool has_long_texts() const { return texts_.size_bytes() > most_bytes_; }

  /// Calls `use(folder)` with a folder (folders.h); `use` returns the folder. Returns how many records it has taken, of
  /// which some may have brought new keys.
  template <typename UseFn>
  std::size_t UseFolder(const UseFn& use) {
    if (cells_.exceeds_cache()) {
      const auto folder = use(CellFolder<K, V, /*kOutsideCache=*/true>(cells_));
      cells_ = folder.cells();
      return folder.folded();
    }
    return FoldIntoCells<K, V>(cells_, use);
  }

  /// Makes room for the texts of keys that may be new: each item's `.key`. ResourceExhausted past the budget.
  template <typename Items>
  absl::Status MakeRoomFor(StateMemory& memory, const Items& items) {
    return texts_.MakeRoomFor(memory, items);
  }
  /// The form of a key, a new one if the key is new; null if the key finds no cell.
  Form* FindOrInsert(const K& key) { return cells_.FindOrInsert(cells_.HomeOf(key), key, texts_); }

  /// Moves some keys and forms to `out`. Returns how many; none once it has none left, and it can begin another slice.
  /// It takes no new keys in between. The texts of the keys are valid until a call returns none.
  std::size_t ReadOut(StateMemory& memory, std::span<DeltaForm<K, V>> out) {
    if (empty()) {
      return 0;
    }
    const std::size_t count = cells_.CopyFrom(position_, out);
    if (count == 0) {
      Restart(memory);
    }
    return count;
  }

 private:
  static constexpr std::uint64_t kFewestKeys = 128;
  static constexpr std::uint64_t kGrowth = 8;

  /// Empties the cells, or replaces them by more or less. Where the budget has no more memory, they stay as they are.
  void Restart(StateMemory& memory) {
    position_ = 0;
    texts_.Release(memory);
    const std::uint64_t wanted = cells_.full() ? std::min(planned_keys_ * kGrowth, most_keys_)
                                 : size() * kGrowth < planned_keys_
                                     ? std::min(std::max<std::uint64_t>(size() * 2, kFewestKeys), most_keys_)
                                     : planned_keys_;
    if (wanted != planned_keys_) {
      if (absl::StatusOr<Cells> cells = Cells::Create(memory, wanted); cells.ok()) {
        cells_.Release(memory);
        cells_ = *cells;
        planned_keys_ = wanted;
        return;
      }
    }
    cells_.Clear();
  }

  Cells cells_;
  [[no_unique_address]] TextLog<K> texts_;  // of the keys in the cells
  std::size_t position_ = 0;                // of the next cell to be read out
  SliceId slice_{};
  std::uint64_t most_bytes_ = 0;
  std::uint64_t most_keys_ = 0;
  std::uint64_t planned_keys_ = 0;  // of the cells that there are
};

}  // namespace glaive::state

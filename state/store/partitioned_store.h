// PartitionedStore: the state backend of one executor (paper section 7): the partition it leads, and its fragments of
// all others.
//
// Owned by one executor, used by its thread alone; nothing in it waits. Updates go straight into the executor's own
// partition, or into the fragment of the partition's leader. Deltas of others are merged into the own partition
// only, so merging needs neither credit nor segment (invariant I5).
//
//   1. Every key is updated in exactly one place: where LeaderOf(hash) says (invariant I2 counts on it).
//
//   if (store.HasRoom(staged.size())) status = store.Apply(slice, staged);
//   status = store.Merge(reader, entries, {.first = first_slice_not_fired});
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"
#include "rdma/base/ids.h"
#include "state/crdt/crdt.h"
#include "state/epoch/delta_reader.h"
#include "state/store/primary_partition.h"
#include "state/store/slot_table.h"
#include "state/store/staged_update.h"
#include "state/store/state_kind.h"

namespace glaive::state {

/// `TableT` is what the slices of its partition are kept in.
template <StateKey K, typename V, typename TableT = typename StateKind<K, V>::Table>
  requires CrdtValue<V> || kIsAppended<V>
class PartitionedStore {
 public:
  using Table = TableT;
  using Primary = PrimaryPartition<K, V, Table>;
  using Fragment = typename StateKind<K, V>::Fragment;
  using Update = StagedUpdate<K, typename V::Input>;
  using Entry = DeltaEntry<K, V>;

  /// The store of executor `self` of `executor_count`, for one of the query's inputs. `memory` and `pool` outlive it;
  /// the pool has at least geometry.pool_segments. ResourceExhausted when the fragment's index does not fit the budget.
  static absl::StatusOr<PartitionedStore> Create(StateMemory& memory, rdma::SegmentPool& pool, ExecutorId self,
                                                 std::uint32_t executor_count, const FragmentGeometry& geometry,
                                                 std::uint32_t input = 0) {
    PartitionedStore store(memory, self, executor_count);
    if (executor_count > 1) {
      auto fragment = Fragment::Create(memory, pool, executor_count, geometry, input);
      if (!fragment.ok()) {
        return fragment.status();
      }
      store.fragment_.emplace(*std::move(fragment));
    }
    return store;
  }

  /// Whether a group of `items` can be updated now; see Fragment.
  bool HasRoom(std::size_t items) const { return !fragment_ || fragment_->HasRoom(items); }
  /// Whether it takes the end of the epoch to make room for it.
  bool IsFull(std::size_t items) const { return fragment_ && fragment_->IsFull(items); }

  /// Calls `use(eager)` with what is to be done for each update of a slice as soon as its record is read, before it is
  /// part of a group. It holds until the next call of anything else, and has
  ///
  ///   Locate(key)                  to be called once for each update: starts loading what it will need, and returns
  ///                                where TryUpdate is to look, also that of a later `eager` while the slice is open
  ///   HashOf(home, key)            HashKey(key), of what Locate has returned for it
  ///   kWaits                       whether TryUpdate is better called some records later, when that has come
  ///   TryUpdate(home, key, input)  whether the record is in the state now; if not, a group has to bring it
  ///   Finish(taken)                to be called once, on what was used and not on a copy: puts new keys into the
  ///                                state, and counts the updates that it took
  ///
  /// Where all keys are led here, and the slice has slots, it updates them. With others to lead keys, too, that would
  /// be a branch that is mispredicted, so there it takes none.
  template <typename UseFn>
  void UseEager(SliceId slice, UseFn&& use) {
    Table* const table = primary_.LastOpened(slice);
    if constexpr (Table::kHasSlots) {
      if (table != nullptr && !fragment_ && !table->slots().empty()) {
        if (table->slots().exceeds_cache()) {
          use(UpdateAtOnce</*kOutsideCache=*/true>(*table));
        } else {
          use(UpdateAtOnce</*kOutsideCache=*/false>(*table));
        }
        return;
      }
    }
    use(PrefetchOnly(*this, table));
  }

  /// Takes up to kGroupSize records of one slice into the state, for which HasRoom, and most of which UseEager has
  /// seen. ResourceExhausted past the budget ends the run.
  absl::Status Apply(SliceId slice, std::span<const Update> updates) {
    if constexpr (kIsAppended<V>) {
      return AppendUpdates(slice, updates);
    } else {
      return FoldUpdates(slice, updates);
    }
  }

  /// Merges entries of a chunk that `reader` has checked. `open` are the slices that the sender may still change.
  /// DataLoss when an entry is of another slice or of a key that this executor does not lead.
  absl::Status Merge(const DeltaReader& reader, std::span<const Entry> entries, SliceRange open) {
    while (!entries.empty()) {
      const SliceId slice = entries.front().slice;
      std::array<MergeItem, kGroupSize> items;
      std::size_t count = 0;
      do {
        const K key = entries[count].key;  // once: the sender could still write to it
        items[count] = MergeItem{.hash = HashKey(key), .key = key, .value = &entries[count].value};
        ++count;
      } while (count < items.size() && count < entries.size() && entries[count].slice == slice);
      if (absl::Status status = CheckMerge(reader, slice, open, std::span(items.data(), count)); !status.ok()) {
        return status;
      }
      if (absl::Status status = MergeChecked(slice, std::span<const MergeItem>(items.data(), count)); !status.ok()) {
        return status;
      }
      merged_entries_ += count;
      entries = entries.subspan(count);
    }
    return absl::OkStatus();
  }

  Primary& primary() { return primary_; }
  const Primary& primary() const { return primary_; }
  /// Null in a run of one executor.
  Fragment* fragment() { return fragment_ ? &*fragment_ : nullptr; }
  const Fragment* fragment() const { return fragment_ ? &*fragment_ : nullptr; }
  /// Entries of other executors merged so far.
  std::uint64_t merged_entries() const { return merged_entries_; }

 private:
  struct MergeItem {
    std::uint64_t hash;
    K key;
    const V* value;
  };

  /// How another executor's delta goes into a value, or into a slot's form if that takes it.
  struct FoldDelta {
    void operator()(V& value, const MergeItem& item) const { value.Merge(*item.value); }
    bool operator()(CompactForm<V>& form, const MergeItem& item) const { return form.TryMerge(*item.value); }
  };

  template <bool kOutsideCache>
  class UpdateAtOnce {
   public:
    static constexpr bool kWaits = kOutsideCache;

    explicit UpdateAtOnce(Table& table) : table_(&table), slots_(table.slots()) {}

    [[gnu::always_inline]] SlotHome Locate(const K& key) const {
      const SlotHome home = slots_.HomeOfKey(key);
      if constexpr (kOutsideCache) {
        slots_.Prefetch(home);
      }
      return home;
    }
    static std::uint64_t HashOf(SlotHome /*home*/, const K& key) { return HashKey(key); }
    /// A new key has a slot at once outside the cache; within it, where little is to be gained, its group brings it.
    [[gnu::always_inline]] bool TryUpdate(SlotHome home, const K& key, const typename V::Input& input) {
      auto* const form = kOutsideCache ? slots_.FindOrInsert(home, key) : slots_.Find(home, key);
      return form != nullptr && form->TryUpdate(input);
    }
    void Finish(std::size_t taken) const { table_->PutBack(slots_, taken); }

   private:
    Table* table_;
    typename Table::Slots slots_;  // a copy: its fields need not be read again after each update
  };

  /// Fragments fit the cache and need no help. Where TryUpdate would have to look is nowhere, so it is the hash.
  class PrefetchOnly {
   public:
    static constexpr bool kWaits = false;

    PrefetchOnly(const PartitionedStore& store, const Table* table)
        : self_(store.self_), executor_count_(store.executor_count_) {
      if (table != nullptr) {
        prefetcher_ = typename Table::Prefetcher(*table);
      }
    }

    [[gnu::always_inline]] SlotHome Locate(const K& key) const {
      const std::uint64_t hash = HashKey(key);
      if (LeaderOf(hash, executor_count_) == self_) {
        prefetcher_(hash);
      }
      return SlotHome{hash};
    }
    static std::uint64_t HashOf(SlotHome home, const K& /*key*/) { return static_cast<std::uint64_t>(home); }
    static constexpr bool TryUpdate(SlotHome /*home*/, const K& /*key*/, const typename V::Input& /*input*/) {
      return false;
    }
    void Finish(std::size_t /*taken*/) const {}

   private:
    ExecutorId self_;
    std::uint32_t executor_count_;
    typename Table::Prefetcher prefetcher_;
  };

  PartitionedStore(StateMemory& memory, ExecutorId self, std::uint32_t executor_count)
      : memory_(&memory), self_(self), executor_count_(executor_count), primary_(memory) {}

  absl::Status FoldUpdates(SliceId slice, std::span<const Update> updates) {
    if (!fragment_) {
      return ApplyToPrimary<true>(slice, updates, FoldRecord{});
    }
    GLAIVE_CHECK(updates.size() <= kGroupSize, "a group of ", updates.size(), " updates, at most ", kGroupSize);
    std::array<Update, kGroupSize> own;
    std::array<Update, kGroupSize> remote;
    std::size_t own_count = 0;
    std::size_t remote_count = 0;
    for (const Update& record : updates) {  // both are written and one is kept: no branch to mispredict
      const bool is_own = LeaderOf(record.hash, executor_count_) == self_;
      own[own_count] = record;
      remote[remote_count] = record;
      own_count += is_own ? 1 : 0;
      remote_count += is_own ? 0 : 1;
    }
    if (own_count > 0) {
      if (absl::Status status =
              ApplyToPrimary<true>(slice, std::span<const Update>(own.data(), own_count), FoldRecord{});
          !status.ok()) {
        return status;
      }
    }
    return remote_count == 0
               ? absl::OkStatus()
               : fragment_->Apply(slice, std::span<const Update>(remote.data(), remote_count), FoldRecord{});
  }

  absl::Status AppendUpdates(SliceId slice, std::span<const Update> updates) {
    Table* table = nullptr;  // opened by the first record that belongs there
    for (const Update& record : updates) {
      const V value{record.input};
      const ExecutorId leader = LeaderOf(record.hash, executor_count_);
      if (leader != self_) {
        fragment_->Append(leader, {.slice = slice, .key = record.key, .value = value});
        continue;
      }
      if (table == nullptr) {
        const absl::StatusOr<Table*> opened = primary_.Open(slice);
        if (!opened.ok()) {
          return opened.status();
        }
        table = *opened;
      }
      if (absl::Status status = table->Append(*memory_, record.hash, {.key = record.key, .value = value});
          !status.ok()) {
        return status;
      }
    }
    return table == nullptr ? absl::OkStatus() : table->Settle(*memory_);
  }

  /// Entries of one slice, of keys that this executor leads.
  absl::Status MergeChecked(SliceId slice, std::span<const MergeItem> items) {
    if constexpr (kIsAppended<V>) {
      absl::StatusOr<Table*> table = primary_.Open(slice);
      absl::Status status = table.status();
      for (const MergeItem& item : items) {
        status = status.ok() ? (*table)->Append(*memory_, item.hash, {.key = item.key, .value = *item.value}) : status;
      }
      return status.ok() ? (*table)->Settle(*memory_) : status;
    } else {
      return ApplyToPrimary<false>(slice, items, FoldDelta{});
    }
  }

  template <bool kPrefetched, typename Item, typename Applier>
  absl::Status ApplyToPrimary(SliceId slice, std::span<const Item> items, Applier&& apply) {
    absl::StatusOr<Table*> table = primary_.Open(slice);
    return table.ok() ? (*table)->template Apply<kPrefetched>(*memory_, items, apply) : table.status();
  }

  absl::Status CheckMerge(const DeltaReader& reader, SliceId slice, SliceRange open,
                          std::span<const MergeItem> items) const {
    const SliceId first = std::max(open.first, primary_.first_open());
    if (slice > open.last) {
      return absl::DataLossError(absl::StrCat("executor ", Value(reader.sender()), " changes slice ", Value(slice),
                                              " in its epoch ", Value(reader.current()),
                                              ", past the end of event time (executor ", Value(self_),
                                              " expects at most ", Value(open.last), ")"));
    }
    if (slice < first) {
      return absl::DataLossError(absl::StrCat("I3: executor ", Value(reader.sender()), " changes slice ", Value(slice),
                                              " in its epoch ", Value(reader.current()),
                                              " after its watermark or the run's had passed it (executor ",
                                              Value(self_), " expects ", Value(first), " or later)"));
    }
    for (const MergeItem& item : items) {
      if (LeaderOf(item.hash, executor_count_) != self_) [[unlikely]] {
        return absl::DataLossError(absl::StrCat("executor ", Value(reader.sender()), " sent executor ", Value(self_),
                                                " a key that executor ", Value(LeaderOf(item.hash, executor_count_)),
                                                " leads, in its epoch ", Value(reader.current())));
      }
    }
    return absl::OkStatus();
  }

  StateMemory* memory_;
  ExecutorId self_;
  std::uint32_t executor_count_;
  Primary primary_;
  std::optional<Fragment> fragment_;
  std::uint64_t merged_entries_ = 0;
};

}  // namespace glaive::state

// Fragment: what an executor has found out, in this epoch, about the partitions that others lead (paper section 7.1.2,
// "helper").
//
// One hash index over all remote partitions, and a log for each (segment_logs.h). Everything in a fragment may still be
// updated; when the epoch ends its logs are sealed into the outbox and the index is cleared, so that the next updates
// start from zero values. A fragment is bounded, and so stays in the cache: when it is full, the epoch ends early.
//
// Owned by one executor, used by its thread alone.
//
// Costs: an update is a group probe like SliceTable's; clearing is a memset of the index, once an epoch.
//
//   if (!fragment.HasRoom(items.size())) { end the epoch if IsFull, else wait for segments in flight }
//   absl::Status status = fragment.Apply(slice, items, apply);
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/check.h"
#include "rdma/base/prefetch.h"
#include "state/index/bucket_table.h"
#include "state/store/delta_entry.h"
#include "state/store/segment_logs.h"
#include "state/store/slice_table.h"

namespace glaive::state {

template <StateKey K, typename V>
class Fragment {
 public:
  using Entry = DeltaEntry<K, V>;

  /// An empty fragment for the query's `input`, whose segments come from `pool`. ResourceExhausted when the index
  /// exceeds the budget.
  static absl::StatusOr<Fragment> Create(StateMemory& memory, rdma::SegmentPool& pool, std::uint32_t executor_count,
                                         const FragmentGeometry& geometry, std::uint32_t input = 0) {
    SegmentLogs<Entry> logs(pool, executor_count, geometry, input);
    absl::StatusOr<BucketTable> index =
        BucketTable::Create(memory, std::uint64_t{geometry.capacity_segments} * geometry.entries_per_segment);
    if (!index.ok()) {
      return index.status();
    }
    return Fragment(std::move(logs), executor_count, *index);
  }

  /// See SegmentLogs.
  bool IsFull(std::size_t items) const { return logs_.IsFull(items); }
  bool HasRoom(std::size_t items) const { return logs_.HasRoom(items); }

  /// Calls `apply(value, item)` for each item on its key's value in `slice`; at most kGroupSize items, none of
  /// them led by this executor, and HasRoom for them. ResourceExhausted when hash collisions use up the index.
  template <typename Item, typename Applier>
  absl::Status Apply(SliceId slice, std::span<const Item> items, Applier&& apply) {
    GLAIVE_CHECK(items.size() <= kGroupSize, "a group of ", items.size(), " items, at most ", kGroupSize);
    const std::uint64_t slice_hash = SliceHash(slice);
    for (const Item& item : items) {
      index_.Prefetch(item.hash ^ slice_hash);
    }
    std::array<std::uint32_t, kGroupSize> guesses;
    for (std::size_t i = 0; i < items.size(); ++i) {
      guesses[i] = index_.Guess(items[i].hash ^ slice_hash);
      if (guesses[i] != BucketTable::kNoEntry) {
        Prefetch(&logs_.At(guesses[i]));
      }
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      std::uint32_t address = guesses[i];
      if (address == BucketTable::kNoEntry || !Holds(address, slice, items[i].key)) {
        address = FindOrAppend(slice, items[i].hash, items[i].key);
        if (address == BucketTable::kNoEntry) [[unlikely]] {
          return absl::ResourceExhaustedError(
              "too many keys of one epoch share a hash; this is a defect, please report it");
        }
      }
      apply(logs_.At(address).value, items[i]);
    }
    updates_ += items.size();
    return absl::OkStatus();
  }

  /// See SegmentLogs. Seal each leader once, then Clear.
  bool TrySeal(ExecutorId leader, const EpochMarker& marker, DeltaOutbox& outbox) {
    return logs_.TrySeal(leader, marker, outbox);
  }

  /// Forgets all entries, once every leader's log is sealed.
  void Clear() {
    index_.Clear();
    logs_.AllSealed();
  }

  /// Records folded in, and entries made for them, so far: their ratio is the fold of late merging.
  std::uint64_t updates() const { return updates_; }
  std::uint64_t entries() const { return logs_.entries(); }

 private:
  Fragment(SegmentLogs<Entry> logs, std::uint32_t executor_count, BucketTable index)
      : logs_(std::move(logs)), executor_count_(executor_count), index_(index) {}

  bool Holds(std::uint32_t address, SliceId slice, const K& key) const {
    const Entry& entry = logs_.At(address);
    return entry.key == key && entry.slice == slice;
  }

  std::uint32_t FindOrAppend(SliceId slice, std::uint64_t hash, const K& key) {
    const ExecutorId leader = LeaderOf(hash, executor_count_);
    const std::uint32_t next = logs_.NextAddress(leader);
    const std::uint32_t address = index_.FindOrInsert(
        hash ^ SliceHash(slice), next, [&](std::uint32_t candidate) { return Holds(candidate, slice, key); });
    if (address == next) {
      logs_.Append(leader, Entry{.slice = slice, .key = key, .value = V{}});
    }
    return address;
  }

  SegmentLogs<Entry> logs_;
  std::uint32_t executor_count_;
  BucketTable index_;
  std::uint64_t updates_ = 0;
};

}  // namespace glaive::state

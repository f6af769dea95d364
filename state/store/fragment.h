// Fragment: what an executor has found out, in this epoch, about the partitions that others lead (paper
// section 7.1.2, "helper").
//
// One hash index over all remote partitions, and one log per partition, built in registered segments of slot
// size that leave as they lie: no copy, no serialisation. Everything in a fragment may still be updated; when
// the epoch ends its logs are sealed into the outbox and the index is cleared, so that the next updates start
// from zero values. A fragment is bounded, and so stays in the cache: when it is full, the epoch ends early.
//
// Owned by one executor, used by its thread alone.
//
//   1. At most geometry.capacity_segments segments are in use (invariant I6).
//   2. HasRoom(n) before Apply of n items: then no item of the group can fail for want of a segment.
//
// Costs: an update is a group probe like SliceTable's; clearing is a memset of the index, once an epoch.
//
//   if (!fragment.HasRoom(items.size())) { end the epoch if IsFull, else wait for segments in flight }
//   absl::Status status = fragment.Apply(slice, items, apply);
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "rdma/base/check.h"
#include "rdma/memory/segment_pool.h"
#include "state/epoch/delta_layout.h"
#include "state/epoch/delta_outbox.h"
#include "state/index/bucket_table.h"
#include "state/store/delta_entry.h"
#include "state/store/fragment_geometry.h"
#include "state/store/slice_table.h"

namespace glaive::state {

template <StateKey K, typename V>
class Fragment {
 public:
  using Entry = DeltaEntry<K, V>;

  /// An empty fragment whose segments come from `pool`. ResourceExhausted when the index exceeds the budget.
  static absl::StatusOr<Fragment> Create(StateMemory& memory, rdma::SegmentPool& pool, std::uint32_t executor_count,
                                         const FragmentGeometry& geometry) {
    GLAIVE_CHECK(EntriesPerSegment(pool.payload_capacity(), sizeof(Entry)) >= geometry.entries_per_segment,
                 "a fragment of ", geometry.entries_per_segment, " entries a segment on slots of ", pool.slot_bytes());
    GLAIVE_CHECK(pool.size() >= geometry.pool_segments && pool.size() <= geometry.MaxPoolSegments(),
                 "a fragment planned for ", geometry.pool_segments, " segments on a pool of ", pool.size());
    absl::StatusOr<BucketTable> index =
        BucketTable::Create(memory, std::uint64_t{geometry.capacity_segments} * geometry.entries_per_segment);
    if (!index.ok()) {
      return index.status();
    }
    return Fragment(pool, executor_count, geometry, *index);
  }

  /// Whether only the end of the epoch can make room for a group of `items`.
  bool IsFull(std::size_t items) const {
    return segments_used_ + geometry_.WorstCaseSegments(items) > geometry_.capacity_segments;
  }

  /// Whether a group of `items` fits now, whatever its keys. If not, and it is not full, wait for segments.
  bool HasRoom(std::size_t items) const {
    return !IsFull(items) && pool_->available() >= geometry_.WorstCaseSegments(items);
  }

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
        __builtin_prefetch(&At(guesses[i]), 1);
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
      apply(At(address).value, items[i]);
    }
    updates_ += items.size();
    return absl::OkStatus();
  }

  /// Moves the leader's log to the outbox, the marker behind its last entry. False when there is no entry and
  /// no free segment to carry the marker: try again when one has come back. Seal each leader once, then Clear.
  bool TrySeal(ExecutorId leader, const EpochMarker& marker, DeltaOutbox& outbox) {
    Log& log = logs_[Value(leader)];
    if (log.segments.empty()) {
      const std::optional<rdma::SegmentId> segment = pool_->TryAcquire();
      if (!segment) {
        return false;
      }
      log.segments.push_back(*segment);
    }
    for (std::size_t i = 0; i < log.segments.size(); ++i) {
      const bool is_last = i + 1 == log.segments.size();
      const std::uint32_t entries = is_last ? log.fill : geometry_.entries_per_segment;
      PushSegment(leader, log.segments[i], entries, marker, is_last, outbox);
    }
    log.segments.clear();
    log.fill = 0;
    return true;
  }

  /// Forgets all entries, once every leader's log is sealed.
  void Clear() {
    index_.Clear();
    segments_used_ = 0;
  }

  /// Records folded in, and entries made for them, so far: their ratio is the fold of late merging.
  std::uint64_t updates() const { return updates_; }
  std::uint64_t entries() const { return entries_; }

 private:
  struct Log {
    std::vector<rdma::SegmentId> segments;  // in order; capacity is reserved at the start
    std::uint32_t fill = 0;                 // entries in the last one
  };

  Fragment(rdma::SegmentPool& pool, std::uint32_t executor_count, const FragmentGeometry& geometry, BucketTable index)
      : pool_(&pool),
        geometry_(geometry),
        offset_bits_(geometry.offset_bits()),
        executor_count_(executor_count),
        index_(index),
        logs_(executor_count) {
    for (Log& log : logs_) {
      log.segments.reserve(geometry.capacity_segments);
    }
  }

  Entry& At(std::uint32_t address) const {
    std::byte* segment = pool_->Data(rdma::SegmentId{address >> offset_bits_});
    return reinterpret_cast<Entry*>(segment)[address & ((1U << offset_bits_) - 1)];
  }

  bool Holds(std::uint32_t address, SliceId slice, const K& key) const {
    const Entry& entry = At(address);
    return entry.key == key && entry.slice == slice;
  }

  std::uint32_t FindOrAppend(SliceId slice, std::uint64_t hash, const K& key) {
    Log& log = logs_[Value(LeaderOf(hash, executor_count_))];
    if (log.segments.empty() || log.fill == geometry_.entries_per_segment) {
      Extend(log);
    }
    const std::uint32_t next = (Value(log.segments.back()) << offset_bits_) | log.fill;
    const std::uint32_t address = index_.FindOrInsert(
        hash ^ SliceHash(slice), next, [&](std::uint32_t candidate) { return Holds(candidate, slice, key); });
    if (address == next) {
      new (&At(next)) Entry{.slice = slice, .key = key, .value = V{}};
      ++log.fill;
      ++entries_;
    }
    return address;
  }

  void Extend(Log& log) {
    const std::optional<rdma::SegmentId> segment = pool_->TryAcquire();
    GLAIVE_CHECK(segment.has_value(), "I6: a fragment with ", segments_used_, " of ", geometry_.capacity_segments,
                 " segments found the pool of ", pool_->size(), " empty");
    log.segments.push_back(*segment);
    log.fill = 0;
    ++segments_used_;
  }

  void PushSegment(ExecutorId leader, rdma::SegmentId segment, std::uint32_t entries, const EpochMarker& marker,
                   bool with_marker, DeltaOutbox& outbox) {
    std::size_t payload_bytes = std::size_t{entries} * sizeof(Entry);
    if (with_marker) {
      const std::size_t offset = MarkerOffset(entries, sizeof(Entry));
      std::memcpy(pool_->Data(segment) + offset, &marker, sizeof(marker));
      payload_bytes = offset + sizeof(marker);
    }
    const DeltaTag tag{.epoch = marker.epoch,
                       .entry_count = entries,
                       .entry_bytes = sizeof(Entry),
                       .has_marker = with_marker ? 1U : 0U,
                       .stage = 0};
    outbox.Push(leader, segment, static_cast<std::uint32_t>(payload_bytes), tag);
  }

  rdma::SegmentPool* pool_;
  FragmentGeometry geometry_;
  int offset_bits_;
  std::uint32_t executor_count_;
  BucketTable index_;
  std::vector<Log> logs_;  // by leader; the executor's own stays empty
  std::uint32_t segments_used_ = 0;
  std::uint64_t updates_ = 0;
  std::uint64_t entries_ = 0;
};

}  // namespace glaive::state

// SegmentLogs: the logs of a fragment, one for each leader, built in registered segments of slot size that leave as
// they lie: no copy, no serialisation.
//
// A fragment is a log for each leader, with or without an index over them (fragment.h, append_fragment.h). Entries have
// an address, a segment's number and a place in it, until their log is sealed. Owned by one executor, used by its
// thread alone.
//
//   1. At most geometry.capacity_segments segments are in use (invariant I6).
//   2. HasRoom(n) before n appends: then none of them can fail for want of a segment.
//
//   if (!logs.HasRoom(items.size())) { end the epoch if IsFull, else wait for segments in flight }
//   const std::uint32_t address = logs.NextAddress(leader);
//   logs.Append(leader, Entry{...});
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "rdma/base/check.h"
#include "rdma/base/ids.h"
#include "rdma/memory/segment_pool.h"
#include "state/epoch/delta_layout.h"
#include "state/epoch/delta_outbox.h"
#include "state/store/fragment_geometry.h"

namespace glaive::state {

template <typename Entry>
class SegmentLogs {
 public:
  /// Empty logs whose segments come from `pool`, which outlives them; `input` is the query's that the entries are for.
  SegmentLogs(rdma::SegmentPool& pool, std::uint32_t executor_count, const FragmentGeometry& geometry,
              std::uint32_t input)
      : pool_(&pool), geometry_(geometry), offset_bits_(geometry.offset_bits()), input_(input), logs_(executor_count) {
    GLAIVE_CHECK(EntriesPerSegment(pool.payload_capacity(), sizeof(Entry)) >= geometry.entries_per_segment,
                 "a fragment of ", geometry.entries_per_segment, " entries a segment on slots of ", pool.slot_bytes());
    GLAIVE_CHECK(pool.size() >= geometry.pool_segments && pool.size() <= geometry.MaxPoolSegments(),
                 "a fragment planned for ", geometry.pool_segments, " segments on a pool of ", pool.size());
    for (Log& log : logs_) {
      log.segments.reserve(geometry.capacity_segments);
    }
  }

  /// Whether only the end of the epoch can make room for a group of `items`.
  bool IsFull(std::size_t items) const {
    return segments_used_ + geometry_.WorstCaseSegments(items) > geometry_.capacity_segments;
  }

  /// Whether a group of `items` fits now, whoever leads them. If not, and it is not full, wait for segments.
  bool HasRoom(std::size_t items) const {
    return !IsFull(items) && pool_->available() >= geometry_.WorstCaseSegments(items);
  }

  Entry& At(std::uint32_t address) const {
    std::byte* segment = pool_->Data(rdma::SegmentId{address >> offset_bits_});
    return reinterpret_cast<Entry*>(segment)[address & ((1U << offset_bits_) - 1)];
  }

  /// Where the leader's next entry will lie.
  std::uint32_t NextAddress(ExecutorId leader) {
    Log& log = logs_[Value(leader)];
    if (log.segments.empty() || log.fill == geometry_.entries_per_segment) {
      Extend(log);
    }
    return (Value(log.segments.back()) << offset_bits_) | log.fill;
  }

  void Append(ExecutorId leader, const Entry& entry) {
    Log& log = logs_[Value(leader)];
    if (log.segments.empty() || log.fill == geometry_.entries_per_segment) [[unlikely]] {
      Extend(log);
    }
    new (log.entries + log.fill) Entry(entry);
    ++log.fill;
    ++entries_;
  }

  /// Moves the leader's log to the outbox, the marker behind its last entry. False when there is no entry and no free
  /// segment to carry the marker: try again when one has come back. Seal each leader once, then call AllSealed.
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

  /// Says that no log has an entry any more.
  void AllSealed() { segments_used_ = 0; }

  /// Entries appended so far.
  std::uint64_t entries() const { return entries_; }

 private:
  struct Log {
    std::vector<rdma::SegmentId> segments;  // in order; capacity is reserved at the start
    std::uint32_t fill = 0;                 // entries in the last one
    Entry* entries = nullptr;               // of the last one
  };

  void Extend(Log& log) {
    const std::optional<rdma::SegmentId> segment = pool_->TryAcquire();
    GLAIVE_CHECK(segment.has_value(), "I6: a fragment with ", segments_used_, " of ", geometry_.capacity_segments,
                 " segments found the pool of ", pool_->size(), " empty");
    log.segments.push_back(*segment);
    log.fill = 0;
    log.entries = reinterpret_cast<Entry*>(pool_->Data(*segment));
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
                       .input = input_};
    outbox.Push(leader, segment, static_cast<std::uint32_t>(payload_bytes), tag);
  }

  rdma::SegmentPool* pool_;
  FragmentGeometry geometry_;
  int offset_bits_;
  std::uint32_t input_;
  std::vector<Log> logs_;  // by leader; the executor's own stays empty
  std::uint32_t segments_used_ = 0;
  std::uint64_t entries_ = 0;
};

}  // namespace glaive::state

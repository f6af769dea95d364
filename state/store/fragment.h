// Fragment: the entries that an executor has for the leaders of other partitions (paper section 7.1.2, "helper"). They
// are built in registered segments of slot size, which leave without a copy. Texts alone move, up to the entries.
//
// A leader has one open segment at a time. The segment holds runs (state/epoch/delta_layout.h): Begin names the slice
// and kind of the entries that follow, and each leader's segment gets a run header with its first entry of them. A full
// segment goes to the outbox at once. At the epoch's end TrySeal sends the open segment, with the marker behind it.
// Entries that the executor leads itself go to a buffer in the same way, from which its store merges them. A branch
// that told them apart would be mispredicted every other time.
//
// Owned by one executor, used by its thread alone.
//
//   1. HasRoom(n, bytes) before n appends: then none of them fails for want of a segment.
//   2. A leader's open segment is never empty, so every segment is in the outbox, on its way, or has an entry in it.
//      Segments come back as leaders merge, so a wait for HasRoom ends (invariants I5, I6).
//
// Entries are appended from the front of a segment, and their texts from its end.
//
// Costs: an append is a comparison and a store.
//
//   if (!fragment.HasRoom(items.size(), sizeof(Entry))) { wait for segments }
//   fragment.Begin(slice, Entry::kKind);
//   for (const Entry& entry : items) fragment.Append(leaders.NumberOf(hash(entry.key)), entry);
//   Merge(fragment.own<Entry>());
//
// An executor that leads no key may append an entry at a time, and stop when there is no room:
//
//   fragment.Begin(slice, Entry::kKind);
//   if (!fragment.TryAppend(leaders.NumberOf(hash(entry.key)), entry)) { wait for segments }
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "rdma/base/ids.h"
#include "rdma/memory/segment_pool.h"
#include "state/epoch/delta_layout.h"
#include "state/epoch/delta_observer.h"
#include "state/epoch/outbox.h"
#include "state/index/leaders.h"
#include "state/record/record.h"
#include "state/record/text_wire.h"
#include "state/store/fragment_geometry.h"

namespace glaive::state {

class Fragment {
 public:
  /// The fragment of executor `self`. Segments come from `pool` and go to `outbox`, which both outlive it; `input` is
  /// the query's that entries of at most `most_entry_bytes` are for. `observer` may be null, and outlives it as well.
  Fragment(rdma::SegmentPool& pool, Outbox& outbox, ExecutorId self, const Leaders& leaders,
           const FragmentGeometry& geometry, std::size_t most_entry_bytes, std::uint32_t input,
           DeltaObserver* observer = nullptr);

  /// Whether `items` entries of `entry_bytes`, texts included, fit now, whoever leads them. If not, wait for segments.
  bool HasRoom(std::size_t items, std::size_t entry_bytes) const {
    return pool_->available() >= geometry_.WorstCaseSegments(items, entry_bytes);
  }

  /// Entries that are appended from here on are of a batch that was read at `read_ns`.
  void BeginBatch(std::int64_t read_ns) { read_ns_ = read_ns; }

  /// Says of which slice and kind the entries are that are appended from here on. Of those that this executor leads
  /// there are kMostEntries at most.
  void Begin(SliceId slice, DeltaKind kind) {
    if (!leads_ && slice == slice_ && kind == kind_ && run_ > 0) {
      return;  // the runs of other leaders go on
    }
    slice_ = slice;
    kind_ = kind;
    ++run_;
    if (leads_) {
      logs_[own_place_] = {.run = run_, .next = own_.data(), .end = own_.data() + own_.size()};
    }
  }

  /// Appends an entry for the leader of this number. HasRoom for it.
  template <typename Entry>
  [[gnu::always_inline]] void Append(std::uint32_t leader, const Entry& entry) {
    Log& log = logs_[leader];
    if constexpr (kHasText<Entry>) {
      // The executor's own entries refer to the texts where they are.
      const std::size_t text_bytes = leader == own_place_ ? 0 : TextRoom(entry);
      if (log.run != run_ || static_cast<std::size_t>(log.end - log.next) < sizeof(Entry) + text_bytes) [[unlikely]] {
        StartRun(leader, sizeof(Entry), text_bytes);
      }
      Entry* const appended = new (log.next) Entry(entry);
      if (leader != own_place_) {
        log.end = PackTexts(*appended, log.end, log.begin + geometry_.runs_bytes_per_segment);
      }
    } else {
      if (log.run != run_ || static_cast<std::size_t>(log.end - log.next) < sizeof(Entry)) [[unlikely]] {
        StartRun(leader, sizeof(Entry), 0);
      }
      new (log.next) Entry(entry);
    }
    log.next += sizeof(Entry);
  }

  /// Appends an entry, HasRoom for it or not; false if there is no room for it. Of an executor that leads no key.
  template <typename Entry>
  [[gnu::always_inline]] bool TryAppend(std::uint32_t leader, const Entry& entry) {
    static_assert(!kHasText<Entry>);
    Log& log = logs_[leader];
    if (log.run != run_ || static_cast<std::size_t>(log.end - log.next) < sizeof(Entry)) [[unlikely]] {
      if (!HasRoom(1, sizeof(Entry))) {
        return false;
      }
      StartRun(leader, sizeof(Entry), 0);
    }
    new (log.next) Entry(entry);
    log.next += sizeof(Entry);
    return true;
  }

  /// The entries since Begin that this executor leads; none if it leads no key.
  template <typename Entry>
  std::span<const Entry> own() const {
    if (!leads_) {
      return {};
    }
    const auto bytes = static_cast<std::size_t>(logs_[own_place_].next - own_.data());
    return {reinterpret_cast<const Entry*>(own_.data()), bytes / sizeof(Entry)};
  }

  /// Ends the epoch for another executor: sends what is open, the marker behind it. False when nothing is open and
  /// there is no free segment to carry the marker: try again when one has come back. Seal each executor once, then call
  /// AllSealed. An executor that leads no key gets the marker alone.
  bool TrySeal(ExecutorId receiver, const EpochMarker& marker);
  /// Says that the epoch has ended for every executor. The next one begins.
  void AllSealed() { ++epoch_; }

  /// Entries appended so far, but for those of runs that are still open.
  std::uint64_t entries() const { return entries_; }

 private:
  struct Log {
    std::uint64_t run = 0;  // the number of the last run in the segment
    std::byte* next = nullptr;
    std::byte* end = nullptr;          // of the room for runs: where texts begin
    std::byte* begin = nullptr;        // null: no segment is open
    DeltaRunHeader* header = nullptr;  // of the last run
    std::uint32_t entry_bytes = 0;     // of the last run
    rdma::SegmentId segment{};
  };

  /// The texts of an entry, and room for the padding that ends the run before them.
  template <typename Entry>
  static std::size_t TextRoom(const Entry& entry) {
    return TextBytes(entry) + kRunAlignment;
  }

  /// For an entry of so many bytes, with room for its texts.
  [[gnu::noinline]] void StartRun(std::uint32_t leader, std::size_t entry_bytes, std::size_t text_bytes);
  void Open(Log& log, rdma::SegmentId segment);
  /// Completes the header of the last run.
  void EndRun(Log& log);
  /// Moves the open segment to the outbox.
  void Push(ExecutorId receiver, Log& log, const EpochMarker* marker);

  rdma::SegmentPool* pool_;
  Outbox* outbox_;
  DeltaObserver* observer_;
  FragmentGeometry geometry_;
  std::uint32_t input_;
  Leaders leaders_;
  std::uint32_t own_place_;
  bool leads_;  // any key
  std::vector<std::byte> own_;
  std::vector<Log> logs_;  // by place (Leaders::executor); the executor's own is the buffer
  SliceId slice_{};
  DeltaKind kind_ = DeltaKind::kUpdate;
  std::uint64_t run_ = 0;
  std::int64_t read_ns_ = 0;
  std::uint64_t epoch_ = 1;
  std::uint64_t entries_ = 0;
};

}  // namespace glaive::state

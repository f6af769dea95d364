// AppendFragment: entries for the partitions that others lead, as they come: a fragment without an index.
//
// For values that are never folded: the tuples of a join (appended.h). Each update is an entry of its own, appended to
// its leader's log (segment_logs.h); when the epoch ends the logs are sealed into the outbox.
//
// Owned by one executor, used by its thread alone.
//
//   if (fragment.HasRoom(1)) fragment.Append(leader, {.slice = slice, .key = key, .value = {offer}});
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"

#include "state/log/state_memory.h"
#include "state/store/delta_entry.h"
#include "state/store/segment_logs.h"

namespace glaive::state {

template <StateKey K, typename V>
class AppendFragment {
 public:
  using Entry = DeltaEntry<K, V>;

  /// See Fragment; it takes no memory but the pool's.
  static absl::StatusOr<AppendFragment> Create(StateMemory& /*memory*/, rdma::SegmentPool& pool,
                                               std::uint32_t executor_count, const FragmentGeometry& geometry,
                                               std::uint32_t input = 0) {
    return AppendFragment(SegmentLogs<Entry>(pool, executor_count, geometry, input));
  }

  /// See SegmentLogs.
  bool IsFull(std::size_t items) const { return logs_.IsFull(items); }
  bool HasRoom(std::size_t items) const { return logs_.HasRoom(items); }

  /// Appends an entry for a leader other than this executor. HasRoom for it.
  [[gnu::always_inline]] void Append(ExecutorId leader, const Entry& entry) { logs_.Append(leader, entry); }

  /// See SegmentLogs. Seal each leader once, then Clear.
  bool TrySeal(ExecutorId leader, const EpochMarker& marker, DeltaOutbox& outbox) {
    return logs_.TrySeal(leader, marker, outbox);
  }
  void Clear() { logs_.AllSealed(); }

  /// Records appended, and entries made for them: the same.
  std::uint64_t updates() const { return logs_.entries(); }
  std::uint64_t entries() const { return logs_.entries(); }

 private:
  explicit AppendFragment(SegmentLogs<Entry> logs) : logs_(std::move(logs)) {}

  SegmentLogs<Entry> logs_;
};

}  // namespace glaive::state

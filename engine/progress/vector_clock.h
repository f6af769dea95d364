// VectorClock: one leader's view of how far every executor has come (paper section 5.1, "Progress Tracking").
//
// Entry e is a watermark: executor e will send no further change to a window that ends at or before it. So a
// window may fire once Min() has reached its end (invariant I4), and not before.
//
// A pure value: no thread, no I/O. Owned by one executor.
//
//   1. No entry ever goes back.
//
// Costs: Advance is O(1), or O(executors) when it moves the one that was last.
//
//   VectorClock clock(executor_count);
//   clock.Advance(ExecutorId{2}, watermark_ms);
//   if (clock.Min() >= window_end_ms) Fire();
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/progress/event_time.h"
#include "rdma/base/check.h"
#include "rdma/base/ids.h"

namespace glaive::engine {

class VectorClock {
 public:
  /// All `executor_count` entries (at least 1) start at kMinEventTimeMs.
  explicit VectorClock(std::uint32_t executor_count)
      : entries_(executor_count, kMinEventTimeMs), idle_(executor_count, false) {
    GLAIVE_CHECK(executor_count > 0, "a vector clock needs an executor");
  }

  /// Moves an executor's entry to `watermark_ms`. True when that moved the minimum.
  bool Advance(ExecutorId executor, std::int64_t watermark_ms) {
    std::int64_t& entry = entries_[Value(executor)];
    GLAIVE_CHECK(watermark_ms >= entry, "the clock of executor ", Value(executor), " goes back from ", entry, " to ",
                 watermark_ms);
    const bool was_last = entry == min_;
    entry = watermark_ms;
    if (!was_last) {
      return false;
    }
    const std::int64_t before = min_;
    min_ = *std::min_element(entries_.begin(), entries_.end());
    return min_ != before;
  }

  /// Notes whether an executor's flow is idle: its entry then follows those of the others.
  void SetIdle(ExecutorId executor, bool idle) { idle_[Value(executor)] = idle; }

  std::int64_t Min() const { return min_; }
  /// The least entry of the flows beside `self` that are neither idle nor at their end, what an idle flow follows;
  /// kMinEventTimeMs if there is none. O(executors).
  std::int64_t MinOfActiveBeside(ExecutorId self) const {
    std::int64_t least = kMaxEventTimeMs;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      least = i == Value(self) || idle_[i] ? least : std::min(least, entries_[i]);
    }
    return least == kMaxEventTimeMs ? kMinEventTimeMs : least;
  }
  std::int64_t At(ExecutorId executor) const { return entries_[Value(executor)]; }

 private:
  std::vector<std::int64_t> entries_;
  std::vector<bool> idle_;
  std::int64_t min_ = kMinEventTimeMs;
};

}  // namespace glaive::engine

// VectorClock: the watermarks of all flows of a stage on one leader (paper section 5.1, "Progress Tracking").
//
// A stage that takes in one stream has a flow for each executor; a join has two. Entry f is a watermark: flow f will
// send no further change to a window that ends at or before it. So a window may fire once Min() has reached its end
// (invariant I4), and not before.
//
// A pure value: no thread, no I/O. Owned by one executor.
//
//   1. No entry ever goes back.
//
// Costs: Advance is O(1), or O(flows) when it moves the one that was last.
//
//   VectorClock clock(executor_count);
//   clock.Advance(2, watermark_ms);
//   if (clock.Min() >= window_end_ms) Fire();
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/event_time.h"
#include "rdma/base/check.h"

namespace glaive::engine {

class VectorClock {
 public:
  /// All `flow_count` entries (at least 1) start at kMinEventTimeMs.
  explicit VectorClock(std::size_t flow_count)
      : entries_(flow_count, kMinEventTimeMs), idle_(flow_count, false), active_(flow_count) {
    GLAIVE_CHECK(flow_count > 0, "a vector clock needs a flow");
  }

  /// Moves a flow's entry to `watermark_ms`. True when that moved the minimum.
  bool Advance(std::size_t flow, std::int64_t watermark_ms) {
    std::int64_t& entry = entries_[flow];
    GLAIVE_CHECK(watermark_ms >= entry, "the clock of flow ", flow, " goes back from ", entry, " to ", watermark_ms);
    const bool was_last = entry == min_;
    active_ -= watermark_ms == kEndedMs && entry != kEndedMs && !idle_[flow] ? 1 : 0;
    entry = watermark_ms;
    if (!was_last) {
      return false;
    }
    const std::int64_t before = min_;
    min_ = *std::min_element(entries_.begin(), entries_.end());
    return min_ != before;
  }

  /// Notes whether a flow is idle: its entry then follows those of the others.
  void SetIdle(std::size_t flow, bool idle) {
    if (idle_[flow] != idle && entries_[flow] != kEndedMs) {
      awakenings_ += !idle && active_ == 0 ? 1 : 0;
      active_ = idle ? active_ - 1 : active_ + 1;
    }
    idle_[flow] = idle;
  }
  /// Whether every flow is idle or at its end, and not all are at their ends: time stands still.
  bool all_idle() const { return active_ == 0 && min_ != kEndedMs; }

  /// How often a flow has become active when none was.
  std::uint64_t awakenings() const { return awakenings_; }

  std::int64_t Min() const { return min_; }
  /// The least entry of the flows that are neither idle nor at their end, without the `count` flows from `first` on:
  /// what an idle flow follows. kMinEventTimeMs if there is no such flow. O(flows).
  std::int64_t MinOfActiveBeside(std::size_t first, std::size_t count) const {
    std::int64_t least = kEndedMs;
    for (std::size_t flow = 0; flow < entries_.size(); ++flow) {
      const bool is_beside = flow < first || flow >= first + count;
      least = is_beside && !idle_[flow] ? std::min(least, entries_[flow]) : least;
    }
    return least == kEndedMs ? kMinEventTimeMs : least;
  }
  /// The least entry of `count` flows from `first` on. O(count).
  std::int64_t MinOf(std::size_t first, std::size_t count) const {
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
    return *std::min_element(begin, begin + static_cast<std::ptrdiff_t>(count));
  }

 private:
  std::vector<std::int64_t> entries_;
  std::vector<bool> idle_;
  std::size_t active_;  // flows that are neither idle nor at their ends
  std::uint64_t awakenings_ = 0;
  std::int64_t min_ = kMinEventTimeMs;
};

}  // namespace glaive::engine

// Tumbling: event-time windows of one length that follow each other without gap or overlap.
//
// Window n covers [n * size, (n + 1) * size) ms of event time; window 0 starts in 1970. A tumbling window is one
// slice, so its number is the slice's.
//
//   Tumbling window{absl::Minutes(10)};
//   TumblingSlices slices(window);
//   SliceId slice = slices.SliceOf(event_time_ms);
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

#include "engine/progress/event_time.h"
#include "rdma/base/check.h"
#include "state/store/slice_id.h"

namespace glaive::engine {

/// What a query writes: `.Window(Tumbling{absl::Seconds(10)})`. At least 1 ms, whole milliseconds.
struct Tumbling {
  absl::Duration size;
};

/// The arithmetic of it. A value; every function costs a division at most.
class TumblingSlices {
 public:
  /// A window that is not whole milliseconds, or none at all, is a defect of the query.
  explicit TumblingSlices(const Tumbling& window) : size_ms_(absl::ToInt64Milliseconds(window.size)) {
    GLAIVE_CHECK(size_ms_ >= 1 && absl::Milliseconds(size_ms_) == window.size, "a tumbling window of ",
                 absl::FormatDuration(window.size), "; it must be whole milliseconds, at least 1");
  }

  /// The slice that an event time falls into.
  state::SliceId SliceOf(std::int64_t event_time_ms) const {
    const std::int64_t quotient = event_time_ms / size_ms_;
    return state::SliceId{quotient - (event_time_ms % size_ms_ < 0 ? 1 : 0)};
  }
  std::int64_t StartMs(state::SliceId slice) const { return static_cast<std::int64_t>(slice) * size_ms_; }
  std::int64_t EndMs(state::SliceId slice) const { return StartMs(slice) + size_ms_; }

  /// The first slice whose window a watermark leaves open: all below end at or before it.
  state::SliceId FirstOpen(std::int64_t watermark_ms) const { return SliceOf(watermark_ms); }

  /// The slices that a flow with this watermark may still change. Both ends of each are times that can be written.
  state::SliceRange OpenAt(std::int64_t watermark_ms) const {
    return {.first = std::max(FirstOpen(watermark_ms), state::SliceId{kMinEventTimeMs / size_ms_}),
            .last = state::SliceId{kMaxEventTimeMs / size_ms_ - 1}};
  }

  std::int64_t size_ms() const { return size_ms_; }

 private:
  std::int64_t size_ms_;
};

}  // namespace glaive::engine

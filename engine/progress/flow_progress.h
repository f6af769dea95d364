// FlowProgress: one executor's progress through its own flow and what it knows of the others': epochs,
// watermarks, and who has to wait for whom.
//
// A pure value: time comes in as numbers. Owned by one executor, used by its thread alone.
//
//   1. A marker carries the watermark of the last batch whose records are all in the state (invariant I3).
//   2. LeadsTooFar() is false for the flow that is last, so not everybody can be waiting (invariant I7).
//   3. What is remembered of passed windows is bounded by how many passed since ForgetPassedWindows.
//   4. A flow that is idle follows: its watermark is that of the slowest flow which is neither idle nor at its end.
//      Without one, time stands still. It never goes back: records that come after all are judged by it.
//
//   progress.OnBatch(records, bytes, watermark_ms, now_ns);
//   if (progress.ShouldEndEpoch(now_ns)) Ship(progress.EndEpoch(now_ns));
#pragma once

#include <cstdint>
#include <deque>

#include "engine/progress/epoch_policy.h"
#include "engine/progress/idleness.h"
#include "engine/progress/vector_clock.h"
#include "engine/window/windows.h"
#include "rdma/base/ids.h"
#include "state/epoch/delta_layout.h"

namespace glaive::engine {

struct FlowProgressOptions {
  ExecutorId self{};
  std::uint32_t executor_count = 1;
  EpochPolicy policy;
  std::int64_t max_lead_ms = 0;
  std::int64_t idle_timeout_ns = 0;  // 0: never idle
};

class FlowProgress {
 public:
  FlowProgress(const FlowProgressOptions& options, const Windows& windows);

  /// Starts the first epoch.
  void Start(std::int64_t now_ns) { epoch_started_ns_ = now_ns; }

  /// A batch that was read at `read_ns` is in the state, and `watermark_ms` holds from here on.
  void OnBatch(std::uint64_t records, std::uint64_t bytes, std::int64_t watermark_ms, std::int64_t read_ns);
  /// The flow has ended: it holds nobody back any more.
  void OnEnd(std::int64_t now_ns) {
    OnActivity(now_ns);
    OnBatch(0, 0, kMaxEventTimeMs, now_ns);
  }
  /// The source had something to read, or a watermark of its own that has moved.
  void OnActivity(std::int64_t now_ns) { idleness_.OnActivity(now_ns); }
  /// The source had nothing. When that has lasted for the idle timeout, the flow follows the others.
  void OnSilence(std::int64_t now_ns);
  /// Whether OnSilence would change anything now.
  bool ShouldFollow(std::int64_t now_ns) const {
    return (idleness_.idle() && follow_ms_ > watermark_ms_) || idleness_.Due(now_ns);
  }
  /// Another executor's epoch has been merged whole.
  void OnMarker(ExecutorId executor, const state::EpochMarker& marker);

  bool ShouldEndEpoch(std::int64_t now_ns) const;
  /// Whether the epoch's end would tell anybody anything.
  bool has_news() const { return epoch_.has_news; }
  /// Ends the epoch: the marker to ship. The next epoch has begun.
  state::EpochMarker EndEpoch(std::int64_t now_ns);

  /// Whether this flow is ahead of the slowest by more than max_lead, and has to wait.
  bool LeadsTooFar() const;

  std::int64_t watermark_ms() const { return watermark_ms_; }
  /// The minimum over all executors: windows that end at or before it are complete.
  std::int64_t min_ms() const { return clock_.Min(); }
  /// Whether the minimum has passed a window's end since ForgetPassedWindows.
  bool has_passed_windows() const { return !passed_.empty(); }
  /// When the batch was read that moved the minimum to a window's end or past it, for windows that
  /// has_passed_windows() covers. Of another executor's epoch that passed several, it is the batch that passed the
  /// first (see DeltaLayout's boundary_read_ns): their latency is overstated, never understated.
  std::int64_t PassedReadNanos(std::int64_t window_end_ms) const;
  /// All windows that the minimum has passed were fired.
  void ForgetPassedWindows() { passed_.clear(); }
  std::uint64_t epochs_ended() const { return epochs_ended_; }
  const Idleness& idleness() const { return idleness_; }

 private:
  /// The minimum was here at the end of a window or past it, thanks to a batch that was read then.
  struct Passing {
    std::int64_t min_ms;
    std::int64_t read_ns;
  };

  void AdvanceClock(ExecutorId executor, std::int64_t watermark_ms, std::int64_t read_ns);

  FlowProgressOptions options_;
  Windows windows_;
  VectorClock clock_;
  Idleness idleness_;
  std::int64_t follow_ms_ = kMinEventTimeMs;  // while idle: where the flow should be
  EpochProgress epoch_;
  std::int64_t epoch_started_ns_ = 0;
  std::uint64_t epochs_ended_ = 0;
  std::uint64_t records_read_ = 0;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  std::int64_t first_watermark_ms_ = kMinEventTimeMs;
  std::int64_t window_end_ms_ = kMinEventTimeMs;      // the first after the watermark
  std::int64_t boundary_read_ns_ = 0;                 // 0: no window's end was passed in this epoch
  std::int64_t min_window_end_ms_ = kMinEventTimeMs;  // the first after the minimum
  std::deque<Passing> passed_;                        // with ascending min_ms
};

}  // namespace glaive::engine

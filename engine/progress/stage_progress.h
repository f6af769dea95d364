// StageProgress: the watermarks of all flows of a stage on one leader, and the windows that they complete.
//
// A stage takes in one stream or, a join, two; each is an input of the query, and has a flow for each executor. A pure
// value: time comes in as numbers. Owned by one executor, used by its thread alone.
//
//   1. The memory of passed windows is bounded by the number of those that have not fired.
//
//   StageProgress progress(windows, executor_count, {.inputs = 2});
//   progress.Advance(progress.FlowOf(input, executor), watermark_ms, read_ns);
//   if (progress.has_passed_windows()) FireUntil(progress.min_ms());
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "engine/progress/vector_clock.h"
#include "engine/window/windows.h"
#include "rdma/base/ids.h"

namespace glaive::engine {

class StageProgress {
 public:
  /// `delays_ms` has the stage's inputs, at least one: by how much the watermark of each stays behind that of the
  /// sources it comes from, at most; 0 of a source's records. `compares_inputs`: whether a source waits for the flows
  /// of the other input, too. Inputs of one family (engine/graph/shared_source.h) are not compared.
  StageProgress(const Windows& windows, std::uint32_t executor_count, const std::vector<std::int64_t>& delays_ms = {0},
                bool compares_inputs = true);

  /// The number of an executor's flow into the stage's input `input`, from 0.
  std::size_t FlowOf(std::size_t input, ExecutorId executor) const { return input * executor_count_ + Value(executor); }

  /// A flow has come to `watermark_ms`, thanks to a batch that was read at `read_ns`.
  void Advance(std::size_t flow, std::int64_t watermark_ms, std::int64_t read_ns);
  /// Notes whether a flow is idle; see VectorClock.
  void SetIdle(std::size_t flow, bool idle) { clock_.SetIdle(flow, idle); }
  /// The watermark that an idle flow follows: that of the slowest active flow beside itself, or beside all flows of its
  /// input; see VectorClock.
  std::int64_t MinOfActiveBesideFlow(std::size_t flow) const { return clock_.MinOfActiveBeside(flow, 1); }
  std::int64_t MinOfActiveBesideInput(std::size_t input) const {
    return clock_.MinOfActiveBeside(input * executor_count_, executor_count_);
  }

  /// The minimum over all flows: windows that end at or before it are complete.
  std::int64_t min_ms() const { return clock_.Min(); }
  /// Whether every flow is idle or at its end, and not all are at their ends: time stands still.
  bool all_idle() const { return clock_.all_idle(); }
  /// How often that has come to an end.
  std::uint64_t awakenings() const { return clock_.awakenings(); }
  /// Where the sources of the slowest flow are at least, for a source of `input` that may have to wait for them:
  /// results of a stage come later than what they are made of. A flow that has not reported yet counts as if at
  /// `first_ms`. While passed windows have not fired, flows count as if they were at the first of them: a source does
  /// not read ahead of its executor's trigger without bound.
  std::int64_t SlowestSourceMs(std::size_t input, std::int64_t first_ms) const;
  /// The event time by which all flows have passed the first window that has not fired; 0 without such a window.
  std::uint64_t UnfiredMs() const;

  /// Whether the minimum has passed a window's end, and that was not forgotten.
  bool has_passed_windows() const { return !passed_.empty(); }
  /// When the batch was read that moved the minimum to a window's end or past it, for windows that
  /// has_passed_windows() covers. Of another executor's epoch that passed several, it is the batch that passed the
  /// first (see DeltaLayout's boundary_read_ns): their latency is overstated, never understated.
  std::int64_t PassedReadNanos(std::int64_t window_end_ms) const;
  /// Likewise of the last window that ends at or before `min_ms`; nothing if all of those have been forgotten.
  std::optional<std::int64_t> LastPassedReadNanos(std::int64_t min_ms) const;
  /// Notes that entries have come of a batch that was read at `read_ns`: for results that wait for no window.
  void NoteEntries(std::int64_t read_ns) {
    entries_read_ns_ = entries_read_ns_ ? std::min(*entries_read_ns_, read_ns) : read_ns;
  }
  /// When the oldest of these batches was read, of those since the last call; nothing if none has come.
  std::optional<std::int64_t> TakeEntriesReadNanos() { return std::exchange(entries_read_ns_, std::nullopt); }

  /// All windows that end at or before this were fired.
  void ForgetPassedUntil(std::int64_t min_ms);

 private:
  /// SlowestSourceMs of the flows of one input. `clock_ms` is where the slowest of them is.
  std::int64_t SourceOfMs(std::size_t input, std::int64_t clock_ms, std::int64_t first_ms) const;

  /// The minimum was here at the end of a window or past it, thanks to a batch that was read then.
  struct Passing {
    std::int64_t min_ms;
    std::int64_t read_ns;
  };

  Windows windows_;
  std::uint32_t executor_count_;
  std::vector<std::int64_t> delays_ms_;  // by input
  bool compares_inputs_;
  VectorClock clock_;
  std::int64_t window_end_ms_ = kMinEventTimeMs;  // the first after the minimum
  std::deque<Passing> passed_;                    // with ascending min_ms
  std::optional<std::int64_t> entries_read_ns_;   // see TakeEntriesReadNanos
};

}  // namespace glaive::engine

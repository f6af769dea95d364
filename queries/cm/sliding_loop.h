// SlidingLoop: `cm --profile=cm1` as a hand-written loop: the sum of CPU requests for each scheduling class in windows
// that overlap, in one thread, no engine code.
//
// Each event is added to one slice, which is as long as the slide; whenever a slice ends, the slices of the window that
// ends with it are added up. There are four classes, so a slice is an array of four accounts. Sums are added anew for
// each window: to subtract the slice that falls out would not be exact for all floating-point numbers.
//
// Requires: event times never decrease; a window is a whole number of slides. Owned and used by one thread.
//
//   SlidingLoop loop({.window_ms = 60'000, .slide_ms = 1'000});
//   loop.Take(events, /*shift_ms=*/0, emit);   // any number of times
//   loop.End(emit);                            // empty again
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/sink/sink.h"
#include "queries/cm/task_event.h"
#include "queries/loops/chunk.h"
#include "rdma/base/check.h"

namespace glaive::queries::cm {

struct SlidingLoopOptions {
  std::int64_t window_ms = 0;
  std::int64_t slide_ms = 0;
};

class SlidingLoop {
 public:
  using Record = TaskEvent;
  using Row = engine::WindowResult<std::uint64_t, double>;

  explicit SlidingLoop(const SlidingLoopOptions& options)
      : options_(options), slices_(static_cast<std::size_t>(options.window_ms / options.slide_ms)) {
    GLAIVE_CHECK(options.window_ms % options.slide_ms == 0, "a window of ", options.window_ms, " ms, no multiple of ",
                 options.slide_ms);
  }

  /// Takes events, to whose times `shift_ms` is added. Calls `emit(row)` for the windows that end before the last one.
  template <typename Emit>
  void Take(std::span<const TaskEvent> events, std::int64_t shift_ms, const Emit& emit) {
    if (!has_begun_ && !events.empty()) {
      const std::int64_t first_ms = kTimeMs(events.front()) + shift_ms;
      slice_end_ms_ = first_ms - first_ms % options_.slide_ms + options_.slide_ms;
      has_begun_ = true;
    }
    for (std::span<const TaskEvent> rest = events; !rest.empty();) {
      while (kTimeMs(rest.front()) + shift_ms >= slice_end_ms_) {
        EndSlice(emit);
      }
      const auto chunk = ChunkBefore(slice_end_ms_ - shift_ms, rest, kRecordsAtOnce, kTimeMs);
      rest = rest.subspan(chunk.size());
      Slice& slice = slices_[newest_];
      for (const TaskEvent& event : chunk) {
        Account& account = slice[static_cast<std::size_t>(event.category)];
        account.sum += double{event.cpu};
        ++account.count;
      }
    }
  }

  /// The stream ends: emits the windows of its last events.
  template <typename Emit>
  void End(const Emit& emit) {
    for (std::size_t i = 0; has_begun_ && i < slices_.size(); ++i) {
      EndSlice(emit);
    }
    has_begun_ = false;
  }

 private:
  struct Account {
    double sum = 0;
    std::uint64_t count = 0;
  };
  static constexpr std::size_t kClasses = 4;
  using Slice = std::array<Account, kClasses>;

  static constexpr std::size_t kRecordsAtOnce = 256;
  static constexpr TaskEventTime kTimeMs{};

  /// Emits the window that ends with the newest slice; the oldest slice makes room for the next.
  template <typename Emit>
  void EndSlice(const Emit& emit) {
    Slice window{};
    for (const Slice& slice : slices_) {
      for (std::size_t i = 0; i < kClasses; ++i) {
        window[i].sum += slice[i].sum;
        window[i].count += slice[i].count;
      }
    }
    for (std::size_t i = 0; i < kClasses; ++i) {
      if (window[i].count > 0) {
        emit(Row{.window_start_ms = slice_end_ms_ - options_.window_ms,
                 .window_end_ms = slice_end_ms_,
                 .key = i,
                 .value = window[i].sum});
      }
    }
    newest_ = (newest_ + 1) % slices_.size();
    slices_[newest_] = {};
    slice_end_ms_ += options_.slide_ms;
  }

  SlidingLoopOptions options_;
  std::vector<Slice> slices_;  // of the window that ends with the newest one, round and round
  std::size_t newest_ = 0;
  std::int64_t slice_end_ms_ = 0;  // of the newest one
  bool has_begun_ = false;
};

}  // namespace glaive::queries::cm

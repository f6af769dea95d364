// SlidingLoop: the hand-written loop that the engine's sliding windows are measured against: cm1, the sum of CPU
// requests for each scheduling class in windows that overlap, in one thread, no engine code.
//
// Each event is added to one slice, which is as long as the slide; whenever a slice ends, the slices of the window that
// ends with it are added up. There are four classes, so a slice is an array of four accounts. Sums are added anew for
// each window: to subtract the slice that falls out would not be exact for all floating-point numbers.
//
// Requires: event times never decrease within a block; a window is a whole number of slides. Owned and used by one
// thread.
//
//   SlidingLoop loop({.window_ms = 60'000, .slide_ms = 1'000});
//   queries::Totals emitted = loop.Run(events, /*repetitions=*/3, /*block_span_ms=*/600'000);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/baseline/chunk.h"
#include "queries/cm/task_event.h"
#include "queries/common/result_row.h"
#include "rdma/base/check.h"

namespace glaive::bench {

struct SlidingLoopOptions {
  std::int64_t window_ms = 0;
  std::int64_t slide_ms = 0;
};

class SlidingLoop {
 public:
  explicit SlidingLoop(const SlidingLoopOptions& options)
      : options_(options), slices_(static_cast<std::size_t>(options.window_ms / options.slide_ms)) {
    GLAIVE_CHECK(options.window_ms % options.slide_ms == 0, "a window of ", options.window_ms, " ms, no multiple of ",
                 options.slide_ms);
  }

  /// Runs the query over `block`, `repetitions` times, and ends the stream; returns what it emitted. Event time moves
  /// on by `block_span_ms`, a multiple of the slide, with each repetition.
  queries::Totals Run(std::span<const queries::cm::TaskEvent> block, std::uint64_t repetitions,
                      std::int64_t block_span_ms) {
    queries::Totals emitted;
    if (block.empty()) {
      return emitted;
    }
    const std::int64_t first_ms = kTimeMs(block.front());
    slice_end_ms_ = first_ms - first_ms % options_.slide_ms + options_.slide_ms;
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      const std::int64_t moved_on_ms = static_cast<std::int64_t>(repetition) * block_span_ms;
      for (std::span<const queries::cm::TaskEvent> rest = block; !rest.empty();) {
        while (kTimeMs(rest.front()) + moved_on_ms >= slice_end_ms_) {
          EndSlice(emitted);
        }
        const auto chunk = ChunkBefore(slice_end_ms_ - moved_on_ms, rest, kRecordsAtOnce, kTimeMs);
        rest = rest.subspan(chunk.size());
        Slice& slice = slices_[newest_];
        for (const queries::cm::TaskEvent& event : chunk) {
          Account& account = slice[static_cast<std::size_t>(event.category)];
          account.sum += double{event.cpu};
          ++account.count;
        }
      }
    }
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      EndSlice(emitted);
    }
    return emitted;
  }

 private:
  struct Account {
    double sum = 0;
    std::uint64_t count = 0;
  };
  static constexpr std::size_t kClasses = 4;
  using Slice = std::array<Account, kClasses>;

  static constexpr std::size_t kRecordsAtOnce = 256;
  static constexpr queries::cm::TaskEventTime kTimeMs{};

  /// Emits the window that ends with the newest slice; the oldest slice makes room for the next.
  void EndSlice(queries::Totals& emitted) {
    Slice window{};
    for (const Slice& slice : slices_) {
      for (std::size_t i = 0; i < kClasses; ++i) {
        window[i].sum += slice[i].sum;
        window[i].count += slice[i].count;
      }
    }
    for (std::size_t i = 0; i < kClasses; ++i) {
      if (window[i].count > 0) {
        emitted.Add({.window_start_ms = slice_end_ms_ - options_.window_ms,
                     .window_end_ms = slice_end_ms_,
                     .key = i,
                     .value = queries::ValueBits(window[i].sum)});
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
};

}  // namespace glaive::bench

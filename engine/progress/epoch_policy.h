// EpochPolicy: decides when an executor ends its epoch, and so ships its changes (paper section 7.2.2).
//
// A pure decision over numbers. An epoch ends
//
//   - after epoch_bytes were read: late merging pays when an epoch folds many records of a key into one delta;
//   - when the watermark has passed a window's end, once epoch_min_bytes were read or epoch_interval has gone by;
//     leaders wait for this epoch, but short windows must not end an epoch each;
//   - after epoch_interval alone, if there are new records or a new watermark, so that slow streams have a low latency.
//
// Where results are due at the end of the stream only, no window waits for a marker. Epochs are longer there, so that
// more records of a key become one delta.
//
// The engine also ends an epoch before its source waits for slower flows (invariant I7), after each watermark in the
// body of a loop, and at the end of the stream.
//
//   if (policy.ShouldEnd({.bytes = read, .elapsed_ns = now - started, .passed_window_end = true, ...})) EndEpoch();
#pragma once

#include <cstdint>
#include <limits>

namespace glaive::engine {

/// The running epoch.
struct EpochProgress {
  std::uint64_t bytes = 0;         // read in it: by the executor's sources, or taken in by the stage, if those are more
  std::int64_t elapsed_ns = 0;     // since it started
  bool passed_window_end = false;  // whether the watermark has passed a window's end in it
  bool has_news = false;           // whether a record was read or the watermark has moved in it
};

struct EpochPolicy {
  std::uint64_t epoch_bytes = 64ULL << 20;
  std::uint64_t epoch_min_bytes = 1ULL << 20;
  std::int64_t epoch_interval_ns = 10'000'000;

  EpochPolicy ForResultsAtEnd() const {
    constexpr int kTimesTheBytes = 16;
    constexpr int kTimesTheInterval = 64;
    constexpr std::int64_t kMostNs = std::numeric_limits<std::int64_t>::max();
    EpochPolicy policy = *this;
    policy.epoch_bytes = epoch_bytes > std::numeric_limits<std::uint64_t>::max() / kTimesTheBytes
                             ? epoch_bytes
                             : epoch_bytes * kTimesTheBytes;
    policy.epoch_interval_ns =
        epoch_interval_ns > kMostNs / kTimesTheInterval ? kMostNs : epoch_interval_ns * kTimesTheInterval;
    return policy;
  }

  bool ShouldEnd(const EpochProgress& epoch) const {
    if (epoch.bytes >= epoch_bytes) {
      return true;
    }
    const bool interval_over = epoch.elapsed_ns >= epoch_interval_ns;
    if (epoch.passed_window_end && (epoch.bytes >= epoch_min_bytes || interval_over)) {
      return true;
    }
    return interval_over && epoch.has_news;
  }
};

}  // namespace glaive::engine

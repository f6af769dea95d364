// SteadyClock: the operating system's monotonic clock. Only a `main` (or a test's body) makes one and hands it down as
// a Clock. Thread-safe; a call costs about 25 ns.
//
// The time of day is read once, when the clock is made, and goes on with the monotonic clock: it never jumps. The
// system runs both at one rate, but a later correction of the time of day by a step has no effect here.
#pragma once

#include <chrono>

#include "rdma/base/clock.h"

namespace glaive {

/// CLOCK_MONOTONIC, which all processes of a host share.
class SteadyClock final : public Clock {
 public:
  std::int64_t NowNanos() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  std::int64_t WallMillis() const override { return (wall_offset_ns_ + NowNanos()) / 1'000'000; }

 private:
  std::int64_t wall_offset_ns_ =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count() -
      SteadyClock::NowNanos();
};

}  // namespace glaive

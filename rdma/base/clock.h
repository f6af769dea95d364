// Clock: the interface of all clocks. Nothing below a `main` reads a clock by itself, so that a whole cluster can run
// in virtual time.
//
// A Clock is shared by the executors of a process: implementations are safe to call from any thread.
//
//   const std::int64_t deadline_ns = clock.NowNanos() + 10'000'000;
#pragma once

#include <cstdint>

namespace glaive {

/// Monotonic time, and the time of day.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Nanoseconds since an origin that is arbitrary, but the same for all processes of one host; never goes back.
  virtual std::int64_t NowNanos() const = 0;
  /// Milliseconds since 1970; within a process it never goes back. A clock whose origin is 1970 need not define it.
  virtual std::int64_t WallMillis() const { return NowNanos() / 1'000'000; }
};

}  // namespace glaive

// Clock: where time comes from. Nothing below a `main` reads a clock by itself, so that a whole cluster
// can run in virtual time.
//
// A Clock is shared by the executors of a process: implementations are safe to call from any thread.
//
//   const std::int64_t deadline_ns = clock.NowNanos() + 10'000'000;
#pragma once

#include <cstdint>

namespace glaive {

/// Monotonic time. The origin is arbitrary, but the same for all processes of one host.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Nanoseconds since the origin; never goes back.
  virtual std::int64_t NowNanos() const = 0;
};

}  // namespace glaive

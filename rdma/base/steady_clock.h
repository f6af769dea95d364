// SteadyClock: the operating system's monotonic clock. Only a `main` (or a test's body) makes one and
// hands it down as a Clock. Thread-safe; a call costs about 25 ns.
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
};

}  // namespace glaive

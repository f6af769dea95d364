// VirtualTime: a simulation's only time, and the clocks that nodes read it from, each with its own origin.
#pragma once

#include <cstdint>
#include <limits>

#include "rdma/base/clock.h"

namespace glaive::sim {

/// Later than anything.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class VirtualTime {
 public:
  std::int64_t now_ns() const { return now_ns_; }
  void Advance(std::int64_t by_ns) { now_ns_ += by_ns; }

 private:
  std::int64_t now_ns_ = 1'000'000'000;  // 0 means "never" to some
};

/// What a host's processes read: virtual time, and more or less of it than on other hosts.
class SkewedClock final : public Clock {
 public:
  SkewedClock(const VirtualTime& time, std::int64_t skew_ns) : time_(&time), skew_ns_(skew_ns) {}
  std::int64_t NowNanos() const override { return time_->now_ns() + skew_ns_; }

 private:
  const VirtualTime* time_;
  std::int64_t skew_ns_;
};

}  // namespace glaive::sim

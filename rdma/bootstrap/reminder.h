// Reminder: decides when the user is told of a wait: after 2 s, and again whenever it has lasted twice as long.
//
//   Reminder reminder(clock.NowNanos());
//   while (...) if (reminder.Due(clock.NowNanos())) Tell("waits for rank 1");
#pragma once

#include <cstdint>

namespace glaive::rdma {

class Reminder {
 public:
  /// The wait begins at `start_ns`.
  explicit Reminder(std::int64_t start_ns) : start_ns_(start_ns) {}

  /// Whether to tell of it; `now_ns` never goes back.
  bool Due(std::int64_t now_ns) {
    const std::int64_t waited_ns = now_ns - start_ns_;
    if (waited_ns < next_ns_) return false;
    next_ns_ = 2 * waited_ns;
    return true;
  }

 private:
  std::int64_t start_ns_;
  std::int64_t next_ns_ = 2'000'000'000;  // after the start
};

}  // namespace glaive::rdma

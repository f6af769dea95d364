// HandClock: a clock that a test moves by hand; safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

#include "rdma/base/clock.h"

namespace glaive::rdma {

/// See the head of this file.
class HandClock final : public Clock {
 public:
  std::int64_t NowNanos() const override { return now_ns_.load(); }
  void Advance(absl::Duration step) { now_ns_ += absl::ToInt64Nanoseconds(step); }

 private:
  std::atomic<std::int64_t> now_ns_{0};
};

}  // namespace glaive::rdma

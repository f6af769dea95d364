// FuzzClock: a clock that goes on by itself, so that nothing can wait for ever; the same in every run.
#pragma once

#include <cstdint>

#include "rdma/base/clock.h"

namespace glaive {

class FuzzClock final : public Clock {
 public:
  std::int64_t NowNanos() const override { return now_ns_ += 1'000'000; }
  void Advance(std::int64_t nanos) { now_ns_ += nanos; }

 private:
  mutable std::int64_t now_ns_ = 0;
};

}  // namespace glaive

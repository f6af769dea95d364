// Every: counts steps and says which of them is the n-th each time, without a division.
//
//   Every turn(4096);
//   for (...) { if (turn.Step()) fiber.Yield(); ... }
#pragma once

#include <cstdint>

namespace glaive {

class Every {
 public:
  /// `steps` are at least 1.
  explicit Every(std::uint64_t steps) : steps_(steps), left_(steps) {}

  /// Counts some steps. True if that completes `steps` since the last time, or since the start.
  bool Step(std::uint64_t count = 1) {
    if (count < left_) [[likely]] {
      left_ -= count;
      return false;
    }
    left_ = steps_;
    return true;
  }

 private:
  std::uint64_t steps_;
  std::uint64_t left_;  // before Step returns true again
};

}  // namespace glaive

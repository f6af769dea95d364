// Pace: yields a fiber's turn once in so many steps of a long loop, without a division.
//
// Owned by the code that loops, in one fiber. The count goes on from one loop to the next.
//
//   Pace pace(memory->thresholds().entries_per_turn);
//   for (const Entry& entry : entries) {
//     pace.Step(fiber);
//     Merge(entry);
//   }
#pragma once

#include <cstdint>

#include "engine/fiber/fiber.h"
#include "rdma/base/every.h"

namespace glaive::engine {

class Pace {
 public:
  /// `steps_per_turn` is at least 1.
  explicit Pace(std::uint64_t steps_per_turn) : turn_(steps_per_turn) {}

  /// Counts some steps. Yields the fiber if that completes `steps_per_turn` since it yielded last, or since the start.
  void Step(Fiber& fiber, std::uint64_t count = 1) {
    if (turn_.Step(count)) {
      fiber.Yield();
    }
  }

 private:
  Every turn_;
};

}  // namespace glaive::engine

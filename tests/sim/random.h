// Random: the one source of chance in a simulation: every draw follows from a seed.
//
// Different purposes (the input, the network, the order of turns) take different draws from a seed, so that a scenario
// can be made smaller without changing what the others draw.
//
//   Random random(seed, Purpose::kNetwork);
//   if (random.Chance(0.3)) Delay(random.Between(10, 500));
#pragma once

#include <cstdint>

#include "rdma/base/mix.h"

namespace glaive::sim {

enum class Purpose : std::uint64_t { kScenario, kInput, kNetwork, kSchedule, kControl, kExecutor, kGraph };

class Random {
 public:
  Random(std::uint64_t seed, Purpose purpose, std::uint64_t number = 0)
      : state_(Mix64(seed * kMixStep + static_cast<std::uint64_t>(purpose)) ^ Mix64(number + kMixStep)) {}

  std::uint64_t Next() {
    state_ += kMixStep;
    return Mix64(state_);
  }
  /// From [0, bound), bound > 0. The bias of the modulo is below bound / 2^64.
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }
  /// From [least, most].
  std::int64_t Between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(most - least) + 1));
  }
  bool Chance(double probability) { return static_cast<double>(Next() >> 11) * 0x1p-53 < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace glaive::sim

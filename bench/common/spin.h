// SpinUntil: the wait of a benchmark that polls.
#pragma once

#include <thread>

namespace glaive::bench {

/// Attempts of a poll over verbs before others run: on an emulated device the processor that polls is the one that
/// transfers.
inline constexpr int kFabricSpins = 8;

/// Spins, and after a while lets others run: the machine may have fewer processors than it should.
template <typename Condition>
void SpinUntil(const Condition& condition, int attempts_before_yield = 200) {
  for (int attempts = 0; !condition(); ++attempts) {
    if (attempts > attempts_before_yield) std::this_thread::yield();
  }
}

}  // namespace glaive::bench

// JavaRandom: java.util.Random, bit for bit, as Apache Beam's generator draws: a linear congruential generator of 48
// bits.
//
//   JavaRandom random(event_number);
//   const std::uint32_t below_five = random.Below(5);
#pragma once

#include <cstdint>

namespace glaive::queries::nexmark::events {

class JavaRandom {
 public:
  explicit constexpr JavaRandom(std::uint64_t seed) : state_((seed ^ kMultiplier) & kMask) {}

  /// A number below `bound`, which is from 1 to 2^31 - 1. Java's nextInt(bound).
  constexpr std::uint32_t Below(std::uint32_t bound) {
    if ((bound & (bound - 1)) == 0) {
      return static_cast<std::uint32_t>((std::uint64_t{bound} * Bits(31)) >> 31);
    }
    while (true) {
      const std::uint32_t bits = Bits(31);
      const std::uint32_t below = bits % bound;
      // The last numbers, too few to be as many of each, are drawn again.
      if (bits - below + (bound - 1) < (std::uint32_t{1} << 31)) {
        return below;
      }
    }
  }
  /// The same for any bound, as Beam draws numbers that may be long: those of bounds beyond 2^31 - 2 are not uniform.
  constexpr std::uint64_t BelowLong(std::uint64_t bound) {
    if (bound < 0x7FFFFFFF) {
      return Below(static_cast<std::uint32_t>(bound));
    }
    const std::uint64_t high = Bits(32);
    const std::int64_t drawn =
        static_cast<std::int64_t>((high << 32) + static_cast<std::uint64_t>(std::int64_t{Int()}));
    const std::int64_t rest = drawn % static_cast<std::int64_t>(bound);
    return static_cast<std::uint64_t>(rest < 0 ? -rest : rest);
  }
  /// Any number of 32 bits. Java's nextInt().
  constexpr std::int32_t Int() { return static_cast<std::int32_t>(Bits(32)); }
  /// In [0, 1). Java's nextDouble().
  constexpr double Double() {
    const std::uint64_t high = std::uint64_t{Bits(26)} << 27;
    return static_cast<double>(high + Bits(27)) * 0x1p-53;
  }

 private:
  static constexpr std::uint64_t kMultiplier = 0x5DEECE66D;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << 48) - 1;

  constexpr std::uint32_t Bits(int count) {
    state_ = (state_ * kMultiplier + 0xB) & kMask;
    return static_cast<std::uint32_t>(state_ >> (48 - count));
  }

  std::uint64_t state_;
};

}  // namespace glaive::queries::nexmark::events

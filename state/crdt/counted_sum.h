// CountedSum: a sum of floats and their number, in the 64 bits of a double, as long as both fit.
//
// The sum's lowest bits, which the sum of some hundred floats hardly ever needs, hold the count. That makes a cell of a
// mean half as large. A smaller table has fewer cache lines to clear, update and read.
//
//   if (!sum.TryAdd(cpu)) { value.Merge({.count = sum.count(), .sum = ExactSum<float>(sum.sum())}); sum = {}; }
#pragma once

#include <bit>
#include <cstdint>

#include "state/crdt/short_sum.h"

namespace glaive::state {

class CountedSum {
 public:
  /// The highest count; its bits are those that the sum has not.
  static constexpr std::uint64_t kMostCount = 255;

  /// Adds a number; false, and nothing changed, if the sum would need more bits, is not finite, or counts too many.
  [[gnu::always_inline]] constexpr bool TryAdd(float number) {
    const ShortSum before = sum();
    const double after = before.value() + double{number};
    const auto bits = std::bit_cast<std::uint64_t>(after);
    if ((before.LostBits(number, after) | bits << kFreeBits) != 0 || count() == kMostCount) [[unlikely]] {
      return false;
    }
    bits_ = bits + count() + 1;
    return true;
  }

  /// Takes this sum and count in place of its own; false, and nothing changed, if they do not fit.
  [[gnu::always_inline]] constexpr bool TrySet(ShortSum sum, std::uint64_t count) {
    const auto bits = std::bit_cast<std::uint64_t>(sum.value());
    if (((bits & kMostCount) | (count & ~kMostCount)) != 0) [[unlikely]] {
      return false;
    }
    bits_ = bits | count;
    return true;
  }

  constexpr ShortSum sum() const { return ShortSum(std::bit_cast<double>(bits_ & ~kMostCount)); }
  constexpr std::uint64_t count() const { return bits_ & kMostCount; }

 private:
  /// A shift by so many leaves nothing but the bits of the count.
  static constexpr int kFreeBits = std::countl_zero(kMostCount);

  std::uint64_t bits_ = 0;
};

}  // namespace glaive::state

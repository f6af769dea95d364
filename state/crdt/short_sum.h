// ShortSum: a sum of floats in a double, as long as nothing is rounded.
//
// A rounded sum minus the larger number is exact (Knuth, The Art of Computer Programming 2, section 4.2.2, theorem C).
// If the difference is the smaller number, nothing was rounded. Either number may be the larger, so both are tried.
//
//   if (!sum.TryAdd(cpu)) exact_sum.Add(cpu);
#pragma once

#include <bit>
#include <cstdint>

namespace glaive::state {

class ShortSum {
 public:
  constexpr ShortSum() = default;
  constexpr explicit ShortSum(double value) : value_(value) {}

  /// Adds a number; false, and nothing changed, if the sum would be rounded or is not finite.
  [[gnu::always_inline]] constexpr bool TryAdd(double number) {
    const double sum = value_ + number;
    if (LostBits(number, sum) != 0) [[unlikely]] {
      return false;
    }
    value_ = sum;
    return true;
  }

  /// Not 0 if `sum`, of this one and `number`, is rounded or not finite. Bits, and no comparisons: one branch for all.
  [[gnu::always_inline]] constexpr std::uint64_t LostBits(double number, double sum) const {
    const double lost_of_number = (sum - value_) - number;
    const double lost_of_value = (sum - number) - value_;
    return std::bit_cast<std::uint64_t>(lost_of_number) | std::bit_cast<std::uint64_t>(lost_of_value);
  }

  constexpr double value() const { return value_; }

 private:
  double value_ = 0;
};

}  // namespace glaive::state

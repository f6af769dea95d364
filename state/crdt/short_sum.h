// ShortSum: a sum of floats in a double, as long as nothing is rounded.
//
// What is left of a rounded sum without the larger number is exact (Knuth, The Art of Computer Programming 2, section
// 4.2.2, theorem C): if that is the smaller number, nothing was rounded. Either may be the larger, so both are tried.
//
//   if (!sum.TryAdd(cpu)) exact_sum.Add(cpu);
#pragma once

namespace glaive::state {

class ShortSum {
 public:
  constexpr ShortSum() = default;
  constexpr explicit ShortSum(double value) : value_(value) {}

  /// Adds a number; false, and nothing changed, if the sum would be rounded or is not finite.
  [[gnu::always_inline]] constexpr bool TryAdd(double number) {
    const double sum = value_ + number;
    if (sum - value_ == number && sum - number == value_) [[likely]] {
      value_ = sum;
      return true;
    }
    return false;
  }

  constexpr double value() const { return value_; }

 private:
  double value_ = 0;
};

}  // namespace glaive::state

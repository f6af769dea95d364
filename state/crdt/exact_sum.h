// ExactSum: the sum of floating-point numbers without any rounding, so that it does not depend on their order.
//
// The sum is in fixed point, whose unit is the least number of the type, and which holds 2^40 of the greatest.
// Infinities and NaN are stored beside it: by IEEE 754 their sum is the same in any order.
//
// A sum of floats mostly fits a double without rounding, so it is stored in one (the head, short_sum.h) as long as it
// does. The head is moved to the fixed point only when a float would not fit.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "state/crdt/fixed_point.h"
#include "state/crdt/short_sum.h"

namespace glaive::state {

/// The parts of an IEEE 754 number: +-mantissa * 2^(position + kLeastExponent), if it is finite.
template <std::floating_point T>
struct FloatParts {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static_assert(sizeof(T) == sizeof(Bits) && std::numeric_limits<T>::is_iec559);

  static constexpr int kMantissaBits = std::numeric_limits<T>::digits - 1;  // as stored
  static constexpr int kLeastExponent = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  /// The greatest `position`, and all bits of numbers up to it.
  static constexpr std::size_t kMaxPosition =
      static_cast<std::size_t>(std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::min_exponent);
  static constexpr std::size_t kBits = kMaxPosition + std::numeric_limits<T>::digits;

  constexpr explicit FloatParts(T value) {
    const Bits bits = std::bit_cast<Bits>(value);
    const Bits stored = bits & ((Bits{1} << kMantissaBits) - 1);
    const auto exponent = static_cast<std::size_t>(bits << 1 >> (kMantissaBits + 1));
    negative = bits >> (8 * sizeof(Bits) - 1) != 0;
    finite = exponent <= kMaxPosition + 1;
    mantissa = exponent == 0 ? stored : stored | (Bits{1} << kMantissaBits);
    position = exponent == 0 ? 0 : exponent - 1;
  }

  bool negative = false;
  bool finite = true;
  std::uint64_t mantissa = 0;
  std::size_t position = 0;
};

/// Which numbers that are not finite were seen.
class NonFinite {
 public:
  template <std::floating_point T>
  constexpr void Add(T value) {
    seen_ |= value > 0 ? kPlus : value < 0 ? kMinus : kNan;
  }
  constexpr void Merge(NonFinite other) { seen_ |= other.seen_; }
  constexpr bool any() const { return seen_ != 0; }
  /// The sum of those that were seen: an infinity, or NaN.
  constexpr double Sum() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return seen_ == kPlus ? kInfinity : seen_ == kMinus ? -kInfinity : std::numeric_limits<double>::quiet_NaN();
  }

  friend constexpr bool operator==(const NonFinite&, const NonFinite&) = default;

 private:
  static constexpr std::uint64_t kPlus = 1;
  static constexpr std::uint64_t kMinus = 2;
  static constexpr std::uint64_t kNan = 4;

  std::uint64_t seen_ = 0;
};

/// See the head of this file.
template <std::floating_point T>
class ExactSum {
 public:
  using Parts = FloatParts<T>;
  static constexpr std::size_t kSpareBits = 40;
  using Fixed = FixedPoint<(Parts::kBits + kSpareBits) / 64 + 1>;

  constexpr void Add(T value) {
    const Parts parts(value);
    if (!parts.finite) [[unlikely]] {
      non_finite_.Add(value);
      return;
    }
    fixed_.AddShifted(parts.mantissa, parts.position, parts.negative);
  }
  constexpr void Merge(const ExactSum& other) {
    fixed_.Add(other.fixed_);
    non_finite_.Merge(other.non_finite_);
  }

  /// The sum by `divisor`, which is not 0, rounded once.
  double DividedBy(std::uint64_t divisor) const {
    constexpr int kFractionBits = 64 * static_cast<int>(Fixed::kFractionWords);
    return non_finite_.any() ? non_finite_.Sum()
                             : ToDouble(fixed_.Divided({divisor}), Parts::kLeastExponent - kFractionBits);
  }
  /// The sum, rounded once.
  double Rounded() const { return DividedBy(1); }

  friend constexpr bool operator==(const ExactSum&, const ExactSum&) = default;

 private:
  Fixed fixed_;
  NonFinite non_finite_;
};

template <>
class ExactSum<float> {
 public:
  static constexpr std::size_t kSpareBits = 40;

  constexpr ExactSum() = default;
  constexpr explicit ExactSum(ShortSum sum) : head_(sum) {}

  [[gnu::always_inline]] constexpr void Add(float value) { AddDouble(value); }
  /// `other` may be a peer's, and hold what no sum of floats does: the result is wrong then, and nothing else.
  constexpr void Merge(const ExactSum& other) {
    fixed_.Add(other.fixed_);
    AddDouble(other.head_.value());
  }
  /// Adds it to a short sum; false, and nothing changed, if it does not fit.
  constexpr bool TryAddTo(ShortSum& sum) const { return fixed_.zero() && sum.TryAdd(head_.value()); }

  /// The sum by `divisor`, which is not 0, rounded once.
  double DividedBy(std::uint64_t divisor) const {
    constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
    if (!IsFinite(head_.value()) || (fixed_.zero() && divisor < kExact)) {
      return head_.value() / static_cast<double>(divisor);
    }
    constexpr int kFractionBits = 64 * static_cast<int>(Fixed::kFractionWords);
    return ToDouble(Total().Divided({divisor}), Parts::kLeastExponent - kFractionBits);
  }
  /// The sum, rounded once.
  double Rounded() const { return DividedBy(1); }

  friend constexpr bool operator==(const ExactSum& a, const ExactSum& b) {
    const double a_head = a.head_.value();
    const double b_head = b.head_.value();
    if (IsFinite(a_head) && IsFinite(b_head)) {
      return a.Total() == b.Total();
    }
    return a_head == b_head || (__builtin_isnan(a_head) && __builtin_isnan(b_head));
  }

 private:
  using Parts = FloatParts<float>;
  using Fixed = FixedPoint<(Parts::kBits + kSpareBits) / 64 + 1>;

  static constexpr bool IsFinite(double value) { return __builtin_isfinite(value); }

  /// `value` is a multiple of the least float.
  [[gnu::always_inline]] constexpr void AddDouble(double value) {
    if (!head_.TryAdd(value)) [[unlikely]] {
      AddInexact(value);
    }
  }

  /// Moves the head to the fixed point, and takes `value` in its place; where one of them is not finite, adds them as
  /// they are. Rare, and too large to stand in a loop.
  [[gnu::noinline]] constexpr void AddInexact(double value) {
    const double rounded = head_.value() + value;
    if (IsFinite(rounded)) {
      AddTo(fixed_, head_.value());
      head_ = ShortSum(value);
    } else {
      head_ = ShortSum(rounded);
    }
  }

  /// Exact: a finite multiple of the least float has no bits below its unit.
  static constexpr void AddTo(Fixed& fixed, double value) {
    constexpr std::size_t kUnit = static_cast<std::size_t>(Parts::kLeastExponent - FloatParts<double>::kLeastExponent);
    const FloatParts<double> parts(value);
    if (parts.position >= kUnit) {
      fixed.AddShifted(parts.mantissa, parts.position - kUnit, parts.negative);
    } else if (kUnit - parts.position < 64) {
      fixed.AddShifted(parts.mantissa >> (kUnit - parts.position), 0, parts.negative);
    }
  }

  constexpr Fixed Total() const {
    Fixed total = fixed_;
    AddTo(total, head_.value());
    return total;
  }

  ShortSum head_;  // finite, or the sum of all that were not
  Fixed fixed_;
};

static_assert(sizeof(ExactSum<float>) == 48 && sizeof(ExactSum<double>) == 280);

}  // namespace glaive::state

// VarianceValue: the population variance of a field, from exact sums of it and of its squares.
//
// n * sum(x^2) - sum(x)^2 is computed without rounding too, so nothing is lost where both are large and nearly equal.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "state/crdt/crdt.h"
#include "state/crdt/exact_sum.h"
#include "state/crdt/fixed_point.h"

namespace glaive::state {

/// What the two kinds of fields have in common: sums in units of 2^E, those of the squares in units of 2^(2 E).
template <std::size_t SumWords, std::size_t SquareWords, int E>
struct Moments {
  void Add(absl::uint128 magnitude, std::size_t position, bool is_negative) {
    sum.AddShifted(magnitude, position, is_negative);
    squares.AddShifted(magnitude * magnitude, 2 * position, false);
    ++count;
  }
  void Merge(const Moments& other) {
    sum.Add(other.sum);
    squares.Add(other.squares);
    count += other.count;
  }
  /// `count` is not 0.
  double Variance() const {
    constexpr std::size_t kWords = std::max(2 * SumWords, SquareWords + 1);
    FixedPoint<kWords> numerator = squares.Times(count).template Widened<kWords>();
    numerator.Add(sum.Squared().template Widened<kWords>().Negated());
    constexpr int kFractionBits = 64 * static_cast<int>(FixedPoint<kWords>::kFractionWords);
    return ToDouble(numerator.Divided({count, count}), 2 * E - kFractionBits);
  }

  friend bool operator==(const Moments&, const Moments&) = default;

  FixedPoint<SumWords> sum;
  FixedPoint<SquareWords> squares;
  std::uint64_t count = 0;
};

template <typename T>
struct VarianceValue;

template <std::integral T>
struct VarianceValue<T> {
  using Input = T;

  void Update(const T& value) {
    const bool negative = value < 0;
    const auto bits = static_cast<std::uint64_t>(value);
    moments.Add(negative ? ~bits + 1 : bits, 0, negative);
  }
  void Merge(const VarianceValue& other) { moments.Merge(other.moments); }
  /// Empty when no record came; rounded once.
  std::optional<double> Result() const {
    return moments.count == 0 ? std::nullopt : std::optional<double>(moments.Variance());
  }

  friend bool operator==(const VarianceValue&, const VarianceValue&) = default;

  Moments<3, 4, 0> moments;
};

template <std::floating_point T>
struct VarianceValue<T> {
  using Input = T;
  using Parts = FloatParts<T>;

  void Update(const T& value) {
    const Parts parts(value);
    if (!parts.finite) [[unlikely]] {
      non_finite.Add(value);
      return;
    }
    moments.Add(parts.mantissa, parts.position, parts.negative);
  }
  void Merge(const VarianceValue& other) {
    moments.Merge(other.moments);
    non_finite.Merge(other.non_finite);
  }
  /// Empty when no record came; NaN when a value was not finite; else rounded once.
  std::optional<double> Result() const {
    if (non_finite.any()) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    return moments.count == 0 ? std::nullopt : std::optional<double>(moments.Variance());
  }

  friend bool operator==(const VarianceValue&, const VarianceValue&) = default;

  static constexpr std::size_t kSpareBits = ExactSum<T>::kSpareBits;
  Moments<(Parts::kBits + kSpareBits) / 64 + 1, (2 * Parts::kBits + kSpareBits) / 64 + 1, Parts::kLeastExponent>
      moments;
  NonFinite non_finite;
};

static_assert(CrdtValue<VarianceValue<std::int64_t>> && CrdtValue<VarianceValue<float>> &&
              CrdtValue<VarianceValue<double>>);

}  // namespace glaive::state

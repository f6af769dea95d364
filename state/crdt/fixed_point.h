// FixedPoint: a signed integer of W words, for sums that must not round.
//
// Two's complement, the least significant word first; it lies on 8-byte boundaries and its bytes are its value. The
// user chooses the unit (a power of two). It wraps around at 2^(64 W - 1).
//
//   FixedPoint<5> sum;
//   sum.AddShifted(mantissa, position, negative);              // sum += +-mantissa * 2^position
//   double mean = ToDouble(sum.Divided({count}), -149 - 192);  // in units of 2^-149, which Divided() splits
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "absl/numeric/int128.h"

#include "rdma/base/check.h"

namespace glaive::state {

/// A non-negative integer and its sign, as FixedPoint gives it out for conversion.
template <std::size_t W>
struct SignedMagnitude {
  bool negative = false;
  bool inexact = false;  ///< something greater than 0 and less than a unit was left out
  std::array<std::uint64_t, W> words{};
};

/// See the head of this file.
template <std::size_t W>
class FixedPoint {
 public:
  static_assert(W >= 3);
  /// Words that Divided() adds below the units.
  static constexpr std::size_t kFractionWords = 3;

  /// Adds `magnitude` * 2^position, or subtracts it. Its bits must lie below 2^(64 W).
  constexpr void AddShifted(absl::uint128 magnitude, std::size_t position, bool negative) {
    const std::size_t word = position / 64;
    const std::size_t shift = position % 64;
    const absl::uint128 low = magnitude << static_cast<int>(shift);
    const std::uint64_t top =
        shift == 0 ? 0 : absl::Uint128Low64(magnitude >> static_cast<int>(128 - shift));  // what `low` has lost
    const std::array<std::uint64_t, 3> parts = {absl::Uint128Low64(low), absl::Uint128High64(low), top};
    if (negative) {
      AddWords(word, parts, [](std::uint64_t a, std::uint64_t b, std::uint64_t* carry) {
        const std::uint64_t difference = a - b - *carry;
        *carry = a < b || (a == b && *carry != 0) ? 1 : 0;
        return difference;
      });
    } else {
      AddWords(word, parts, AddWithCarry);
    }
  }

  constexpr void Add(const FixedPoint& other) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < W; ++i) {
      words_[i] = AddWithCarry(words_[i], other.words_[i], &carry);
    }
  }

  constexpr FixedPoint Negated() const {
    FixedPoint result;
    std::uint64_t carry = 1;
    for (std::size_t i = 0; i < W; ++i) {
      result.words_[i] = AddWithCarry(~words_[i], 0, &carry);
    }
    return result;
  }

  constexpr bool zero() const {
    return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
  }
  constexpr bool negative() const { return static_cast<std::int64_t>(words_.back()) < 0; }

  /// This times a number that is not negative; the product needs up to 64 more bits.
  constexpr FixedPoint<W + 1> Times(std::uint64_t factor) const {
    FixedPoint<W + 1> product;
    const FixedPoint magnitude = negative() ? Negated() : *this;
    for (std::size_t i = 0; i < W; ++i) {
      product.AddShifted(absl::uint128(magnitude.words_[i]) * factor, 64 * i, false);
    }
    return negative() ? product.Negated() : product;
  }

  constexpr FixedPoint<2 * W> Squared() const {
    FixedPoint<2 * W> square;
    const FixedPoint magnitude = negative() ? Negated() : *this;
    for (std::size_t i = 0; i < W; ++i) {
      for (std::size_t j = 0; j < W; ++j) {
        square.AddShifted(absl::uint128(magnitude.words_[i]) * magnitude.words_[j], 64 * (i + j), false);
      }
    }
    return square;
  }

  /// The same number with more words.
  template <std::size_t V>
    requires(V >= W)
  constexpr FixedPoint<V> Widened() const {
    FixedPoint<V> wide;
    for (std::size_t i = 0; i < V; ++i) {
      wide.words_[i] = i < W ? words_[i] : negative() ? ~std::uint64_t{0} : 0;
    }
    return wide;
  }

  /// This divided by each of the divisors (at most two, none of them 0), in units of 2^(-64 kFractionWords): exact, or
  /// rounded towards 0 and `inexact`, with at least 64 significant bits.
  constexpr SignedMagnitude<W + kFractionWords> Divided(std::initializer_list<std::uint64_t> divisors) const {
    GLAIVE_CHECK(divisors.size() < kFractionWords, divisors.size(), " divisors");
    SignedMagnitude<W + kFractionWords> result{.negative = negative()};
    const FixedPoint magnitude = negative() ? Negated() : *this;
    std::copy(magnitude.words_.begin(), magnitude.words_.end(), result.words.begin() + kFractionWords);
    for (const std::uint64_t divisor : divisors) {
      absl::uint128 remainder = 0;
      for (std::size_t i = result.words.size(); i-- > 0;) {
        const absl::uint128 dividend = (remainder << 64) | result.words[i];
        result.words[i] = absl::Uint128Low64(dividend / divisor);
        remainder = dividend % divisor;
      }
      result.inexact = result.inexact || remainder != 0;
    }
    return result;
  }

  friend constexpr bool operator==(const FixedPoint&, const FixedPoint&) = default;

 private:
  template <std::size_t V>
  friend class FixedPoint;

  static constexpr std::uint64_t AddWithCarry(std::uint64_t a, std::uint64_t b, std::uint64_t* carry) {
    const std::uint64_t partial = a + b;
    const std::uint64_t sum = partial + *carry;
    *carry = partial < a || sum < partial ? 1 : 0;
    return sum;
  }

  /// Applies `operation(word, part, &carry)` from `first` on, until nothing is carried any more.
  template <typename Operation>
  constexpr void AddWords(std::size_t first, const std::array<std::uint64_t, 3>& parts, const Operation& operation) {
    std::uint64_t carry = 0;
    std::size_t word = first;
    for (const std::uint64_t part : parts) {
      if (word >= W) {
        return;  // what is lost is 0, or it wraps around; a peer's number may begin anywhere
      }
      words_[word] = operation(words_[word], part, &carry);
      ++word;
    }
    for (; carry != 0 && word < W; ++word) {
      words_[word] = operation(words_[word], 0, &carry);
    }
  }

  std::array<std::uint64_t, W> words_{};
};

/// The double nearest to (leading + a fraction) * 2^exponent, ties to even; infinite if it is too large for one. The
/// highest bit of `leading` is set, and `fraction` says whether there is one that is greater than 0.
double NearestDouble(std::uint64_t leading, bool fraction, int exponent);

/// The double nearest to `number` * 2^exponent, likewise.
template <std::size_t W>
double ToDouble(const SignedMagnitude<W>& number, int exponent) {
  std::size_t top = W;
  while (top > 0 && number.words[top - 1] == 0) {
    --top;
  }
  if (top == 0) {
    return 0;
  }
  // The leading 64 bits, and whether anything follows.
  const int shift = std::countl_zero(number.words[top - 1]);
  std::uint64_t leading = number.words[top - 1] << shift;
  bool rest = number.inexact;
  if (top >= 2) {
    const std::uint64_t next = number.words[top - 2];
    leading |= shift == 0 ? 0 : next >> (64 - shift);
    rest = rest || (next << shift) != 0;
  }
  for (std::size_t i = 0; i + 2 < top; ++i) {
    rest = rest || number.words[i] != 0;
  }
  const int unit = static_cast<int>(64 * (top - 1)) - shift + exponent;  // of `leading`'s last bit
  const double value = NearestDouble(leading, rest, unit);
  return number.negative ? -value : value;
}

}  // namespace glaive::state

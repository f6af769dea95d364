// WideInteger: a 128-bit signed integer that lies on 8-byte boundaries.
//
// absl::int128 needs 16-byte alignment, which would pad every log entry that holds one; two halves do not. It wraps
// around at 2^127, which no sum of fewer than 2^63 64-bit values can reach.
#pragma once

#include <cstdint>

#include "absl/numeric/int128.h"

#include "state/crdt/fixed_point.h"

namespace glaive::state {

class WideInteger {
 public:
  constexpr WideInteger() = default;
  constexpr explicit WideInteger(absl::int128 value)
      : low_(absl::Int128Low64(value)), high_(absl::Int128High64(value)) {}

  constexpr absl::int128 value() const { return absl::MakeInt128(high_, low_); }

  /// Adds modulo 2^128.
  constexpr void Add(absl::int128 other) {
    const absl::uint128 sum = absl::uint128(value()) + absl::uint128(other);
    low_ = absl::Uint128Low64(sum);
    high_ = static_cast<std::int64_t>(absl::Uint128High64(sum));
  }

  /// This by `divisor`, which is not 0, rounded once.
  double DividedBy(std::uint64_t divisor) const {
    using Fixed = FixedPoint<3>;
    constexpr int kFractionBits = 64 * static_cast<int>(Fixed::kFractionWords);
    const bool negative = high_ < 0;
    const auto bits = absl::uint128(value());
    Fixed fixed;
    fixed.AddShifted(negative ? -bits : bits, 0, negative);
    return ToDouble(fixed.Divided({divisor}), -kFractionBits);
  }

  friend constexpr bool operator==(const WideInteger&, const WideInteger&) = default;

 private:
  std::uint64_t low_ = 0;
  std::int64_t high_ = 0;
};

static_assert(sizeof(WideInteger) == 16 && alignof(WideInteger) == 8);

}  // namespace glaive::state

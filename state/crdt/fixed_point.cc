#include "state/crdt/fixed_point.h"

#include <cmath>

namespace glaive::state {

double NearestDouble(std::uint64_t leading, bool fraction, int exponent) {
  // A double has 53 bits, and fewer where its last would be worth less than 2^-1074.
  constexpr int kBits = 53;
  constexpr int kLeastExponent = -1074;
  const int dropped = std::max(64 - kBits, kLeastExponent - exponent);
  if (dropped > 64) {
    return 0;
  }
  const absl::uint128 leading_bits = absl::uint128(leading) >> dropped;
  const absl::uint128 rest = absl::uint128(leading) - (leading_bits << dropped);
  const absl::uint128 half = absl::uint128(1) << (dropped - 1);
  const bool odd = (absl::Uint128Low64(leading_bits) & 1) != 0;
  const bool up = rest > half || (rest == half && (fraction || odd));
  return std::ldexp(static_cast<double>(absl::Uint128Low64(leading_bits)) + (up ? 1 : 0), exponent + dropped);
}

}  // namespace glaive::state

// ExtremumValue: the least or the greatest value of a field, and whether there was any.
//
// Floating-point fields must not be NaN: it has no place in the order. -0.0 counts as 0.0, since which of the two
// stayed would depend on the order of merging.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>

#include "state/crdt/crdt.h"

namespace glaive::state {

/// `Better(a, b)` says whether a takes b's place: std::less for the minimum, std::greater for the maximum.
template <typename T, typename Better>
  requires std::is_arithmetic_v<T>
struct ExtremumValue {
  using Input = T;

  void Update(const T& value) {
    if (seen == 0 || Better{}(value, best)) {
      best = value;
      if constexpr (std::is_floating_point_v<T>) {
        best += T{0};  // -0.0 becomes 0.0
      }
      seen = 1;
    }
  }
  void Merge(const ExtremumValue& other) {
    if (other.seen != 0) {
      Update(other.best);
    }
  }
  /// Empty when no record came.
  std::optional<T> Result() const { return seen != 0 ? std::optional<T>(best) : std::nullopt; }

  friend bool operator==(const ExtremumValue&, const ExtremumValue&) = default;

  T best = T{};
  // 0 or 1; as wide as the field, so that there is no padding behind fields of 4 or 8 bytes.
  std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t> seen = 0;
};

template <typename T>
using MinValue = ExtremumValue<T, std::less<T>>;
template <typename T>
using MaxValue = ExtremumValue<T, std::greater<T>>;

static_assert(CrdtValue<MinValue<std::int64_t>> && CrdtValue<MaxValue<double>>);
static_assert(sizeof(MinValue<std::int32_t>) == 8 && sizeof(MaxValue<double>) == 16);

}  // namespace glaive::state

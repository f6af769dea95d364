// ExtremumValue: the least or the greatest value of a field. Of no records it is the neutral value, which takes no
// other's place: the type's greatest or least, an infinity if it has one.
//
// Floating-point fields must not be NaN: it has no place in the order. -0.0 counts as 0.0, since which of the two
// stayed would depend on the order of merging.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

#include "state/crdt/crdt.h"

namespace glaive::state {

/// `Better(a, b)` says whether a takes b's place: std::less for the minimum, std::greater for the maximum.
template <typename T, typename Better>
  requires std::is_arithmetic_v<T>
struct ExtremumValue {
  using Input = T;

  void Update(const T& value) {
    best = Better{}(value, best) ? value : best;
    if constexpr (std::is_floating_point_v<T>) {
      best += T{0};  // -0.0 becomes 0.0
    }
  }
  void Merge(const ExtremumValue& other) { Update(other.best); }
  T Result() const { return best; }

  friend bool operator==(const ExtremumValue&, const ExtremumValue&) = default;

  static constexpr T Neutral() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) {
      return Better{}(T{0}, T{1}) ? Limits::infinity() : -Limits::infinity();
    } else {
      return Better{}(T{0}, T{1}) ? Limits::max() : Limits::lowest();
    }
  }

  T best = Neutral();
};

template <typename T>
using MinValue = ExtremumValue<T, std::less<T>>;
template <typename T>
using MaxValue = ExtremumValue<T, std::greater<T>>;

static_assert(CrdtValue<MinValue<std::int64_t>> && CrdtValue<MaxValue<double>>);
static_assert(sizeof(MinValue<std::int32_t>) == 4 && sizeof(MaxValue<double>) == 8);

}  // namespace glaive::state

// ExtremumValue: the least or the greatest value of a field. Without records it is the neutral value: the type's
// greatest or least, or an infinity if the type has one.
//
// Texts compare by their bytes. No text is the greatest, so the value of texts says whether there was one.
//
// Floating-point fields must not be NaN: it has no place in the order. -0.0 counts as 0.0, since which of the two
// stayed would depend on the order of merging.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>

#include "state/crdt/crdt.h"
#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::state {

/// `Better(a, b)` says whether a takes b's place: std::less for the minimum, std::greater for the maximum.
template <typename T, typename Better>
  requires std::is_arithmetic_v<T> || std::is_same_v<T, Text>
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

template <typename Better>
struct ExtremumValue<Text, Better> {
  using Input = Text;
  using Members = std::tuple<Text, std::uint64_t>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.best);
  }

  void Update(const Text& value) {
    if (seen == 0 || Better{}(value, best)) {
      best = value;
      seen = 1;
    }
  }
  void Merge(const ExtremumValue& other) {
    if (other.seen != 0) {
      Update(other.best);
    }
  }
  /// The empty text when no record came.
  Text Result() const { return best; }

  friend bool operator==(const ExtremumValue&, const ExtremumValue&) = default;

  Text best;
  std::uint64_t seen = 0;  // 0 or 1
};

template <typename T>
using MinValue = ExtremumValue<T, std::less<T>>;
template <typename T>
using MaxValue = ExtremumValue<T, std::greater<T>>;

static_assert(CrdtValue<MinValue<std::int64_t>> && CrdtValue<MaxValue<double>> && CrdtValue<MaxValue<Text>>);
static_assert(sizeof(MinValue<std::int32_t>) == 4 && sizeof(MaxValue<double>) == 8);

}  // namespace glaive::state

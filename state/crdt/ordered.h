// Ordered: a value beside the order by which it is chosen. The values that choose are the first, the last and the
// greatest K.
//
// The choice does not depend on the order of merging: the value itself breaks ties of `order`, and two that are equal
// in both cannot be told apart.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "state/crdt/crdt.h"
#include "state/record/record.h"

namespace glaive::state {

/// A type whose values all compare with each other (no floating-point numbers: NaN does not) and are in their bytes and
/// texts, which travel between processes.
template <typename T>
concept TotallyOrdered =
    RecordData<T> && std::is_default_constructible_v<T> && std::three_way_comparable<T, std::strong_ordering>;

/// Compared by `order` first, then by `value`.
template <TotallyOrdered Order, TotallyOrdered T>
struct Ordered {
  using Members = std::tuple<Order, T>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("order", self.order);
    visit("value", self.value);
  }

  Order order{};
  T value{};

  friend auto operator<=>(const Ordered&, const Ordered&) = default;
};

/// The value of the least or the greatest order. `Better(a, b)` says whether a takes b's place.
template <typename Order, typename T, typename Better>
struct ChosenValue {
  using Input = Ordered<Order, T>;
  using Members = std::tuple<Input, std::uint64_t>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.best);
  }

  void Update(const Input& input) {
    if (seen == 0 || Better{}(input, best)) {
      best = input;
      seen = 1;
    }
  }
  void Merge(const ChosenValue& other) {
    if (other.seen != 0) {
      Update(other.best);
    }
  }
  /// Empty when no record came.
  std::optional<T> Result() const { return seen != 0 ? std::optional<T>(best.value) : std::nullopt; }

  friend bool operator==(const ChosenValue&, const ChosenValue&) = default;

  Input best{};
  std::uint64_t seen = 0;  // 0 or 1
};

/// The value that came with the least order, of several the least value.
template <typename Order, typename T>
using FirstValue = ChosenValue<Order, T, std::less<>>;
/// The value that came with the greatest order, of several the greatest value.
template <typename Order, typename T>
using LastValue = ChosenValue<Order, T, std::greater<>>;

/// The K greatest values, repeated ones as often as they came.
template <std::size_t K, TotallyOrdered T>
  requires(K > 0)
struct TopKValue {
  using Input = T;
  using Members = std::tuple<std::array<T, K>, std::uint64_t>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.best);
  }

  void Update(const T& value) {
    if (size == K && !(best.back() < value)) {
      return;
    }
    const auto end = best.begin() + static_cast<std::ptrdiff_t>(size);
    const auto place = std::find_if(best.begin(), end, [&](const T& other) { return other < value; });
    std::move_backward(place, size == K ? end - 1 : end, size == K ? end : end + 1);
    *place = value;
    size += size == K ? 0 : 1;
  }
  void Merge(const TopKValue& other) {
    for (std::size_t i = 0; i < std::min<std::uint64_t>(other.size, K); ++i) {  // `other` may be a peer's
      Update(other.best[i]);
    }
  }
  /// From the greatest on; fewer than K when fewer records came.
  std::vector<T> Result() const { return {best.begin(), best.begin() + static_cast<std::ptrdiff_t>(size)}; }

  friend bool operator==(const TopKValue&, const TopKValue&) = default;

  std::array<T, K> best{};  // descending, `size` of them
  std::uint64_t size = 0;
};

static_assert(CrdtValue<FirstValue<std::int64_t, std::int32_t>> && CrdtValue<TopKValue<3, std::int64_t>>);

}  // namespace glaive::state

// Folded and Reduced: values whose Update and Merge are functions of the query.
//
// The functions must have the laws of crdt.h: otherwise results depend on which executor reads which records. They are
// lambdas without captures, so their types are all that the value needs.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "state/crdt/crdt.h"
#include "state/record/record.h"

namespace glaive::state {

/// A function that has no state, so that an object of it can be made anywhere.
template <typename F>
concept Stateless = std::is_empty_v<F> && std::default_initializable<F>;

/// `Local{}(accumulator, record)` adds a record to an accumulator, `Global{}(accumulator, other)` another accumulator.
/// A new accumulator is A{}.
template <typename A, RecordData R, Stateless Local, Stateless Global>
struct FoldedValue {
  using Input = R;
  using Members = std::tuple<A>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.accumulator);
  }

  void Update(const R& record) { Local{}(accumulator, record); }
  void Merge(const FoldedValue& other) { Global{}(accumulator, other.accumulator); }
  A Result() const { return accumulator; }

  friend bool operator==(const FoldedValue&, const FoldedValue&) = default;

  A accumulator{};
};

/// `Function{}(a, b)` is one record made of two.
template <RecordData R, Stateless Function>
struct ReducedValue {
  using Input = R;
  using Members = std::tuple<R, std::uint64_t>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.value);
  }

  void Update(const R& record) {
    value = seen == 0 ? record : Function{}(value, record);
    seen = 1;
  }
  void Merge(const ReducedValue& other) {
    if (other.seen != 0) {
      Update(other.value);
    }
  }
  /// Of no records, R{}.
  R Result() const { return value; }

  friend bool operator==(const ReducedValue&, const ReducedValue&) = default;

  R value{};
  std::uint64_t seen = 0;  // 0 or 1
};

}  // namespace glaive::state

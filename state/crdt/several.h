// SeveralValue: some CRDT values side by side, updated in one pass over the records.
//
//   SeveralValue<CountValue, MaxValue<std::int64_t>> value;
//   value.Update({Nothing{}, {price}});
//   const auto [count, highest] = value.Result();
#pragma once

#include <tuple>

#include "state/crdt/crdt.h"

namespace glaive::state {

template <CrdtValue... Vs>
struct SeveralValue;

/// A struct of its own and not std::tuple, which is not trivially copyable.
template <CrdtValue V>
struct SeveralValue<V> {
  struct Input {
    using Members = std::tuple<typename V::Input>;
    template <typename Self, typename Visit>
    static void VisitMembers(Self& self, const Visit& visit) {
      visit("", self.first);
    }

    [[no_unique_address]] typename V::Input first;
  };
  using Members = std::tuple<V>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.first);
  }

  void Update(const Input& input) { first.Update(input.first); }
  void Merge(const SeveralValue& other) { first.Merge(other.first); }
  auto Result() const { return std::tuple(first.Result()); }

  friend bool operator==(const SeveralValue&, const SeveralValue&) = default;

  [[no_unique_address]] V first;
};

template <CrdtValue V, CrdtValue... Rest>
  requires(sizeof...(Rest) > 0)
struct SeveralValue<V, Rest...> {
  struct Input {
    using Members = std::tuple<typename V::Input, typename SeveralValue<Rest...>::Input>;
    template <typename Self, typename Visit>
    static void VisitMembers(Self& self, const Visit& visit) {
      visit("", self.first);
      visit("", self.rest);
    }

    [[no_unique_address]] typename V::Input first;
    [[no_unique_address]] typename SeveralValue<Rest...>::Input rest;
  };
  using Members = std::tuple<V, SeveralValue<Rest...>>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.first);
    visit("", self.rest);
  }

  void Update(const Input& input) {
    first.Update(input.first);
    rest.Update(input.rest);
  }
  void Merge(const SeveralValue& other) {
    first.Merge(other.first);
    rest.Merge(other.rest);
  }
  /// A tuple of their results.
  auto Result() const { return std::tuple_cat(std::tuple(first.Result()), rest.Result()); }

  friend bool operator==(const SeveralValue&, const SeveralValue&) = default;

  [[no_unique_address]] V first;
  [[no_unique_address]] SeveralValue<Rest...> rest;
};

}  // namespace glaive::state

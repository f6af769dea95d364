// ElementTotal: the total of a group whose set of elements is stored as one entry for each element. Elements are
// counted, and the other values beside them are merged. A group may have several sets, each with a number: that of its
// PresenceValue among those of the value.
//
// An entry's value covers the records with one element. So
//
//   SeveralValue<CountValue, PresenceValue, MaxValue<std::int64_t>> of_an_element;
//   using Total = ElementTotal<decltype(of_an_element)>;
//   Total::Type total;   // SeveralValue<CountValue, CountValue, MaxValue<std::int64_t>>
//   Total::Add(total, of_an_element, /*number=*/0);
#pragma once

#include <cstddef>
#include <tuple>

#include "state/crdt/count.h"
#include "state/crdt/crdt.h"
#include "state/crdt/presence.h"
#include "state/crdt/several.h"

namespace glaive::state {

template <CrdtValue V>
struct ElementTotal {
  using Type = V;
  static constexpr std::size_t kSets = 0;

  static void Add(V& total, const V& of_an_element, std::size_t /*number*/) { total.Merge(of_an_element); }
};

template <>
struct ElementTotal<PresenceValue> {
  using Type = CountValue;
  static constexpr std::size_t kSets = 1;

  static void Add(CountValue& total, const PresenceValue& /*of_an_element*/, std::size_t number) {
    total.count += number == 0 ? 1 : 0;
  }
};

template <CrdtValue V>
struct ElementTotal<SeveralValue<V>> {
  using Type = SeveralValue<typename ElementTotal<V>::Type>;
  static constexpr std::size_t kSets = ElementTotal<V>::kSets;

  static void Add(Type& total, const SeveralValue<V>& of_an_element, std::size_t number) {
    ElementTotal<V>::Add(total.first, of_an_element.first, number);
  }
};

template <CrdtValue V, CrdtValue... Rest>
  requires(sizeof...(Rest) > 0)
struct ElementTotal<SeveralValue<V, Rest...>> {
  using Type = SeveralValue<typename ElementTotal<V>::Type, typename ElementTotal<Rest>::Type...>;
  static constexpr std::size_t kSets = ElementTotal<V>::kSets + ElementTotal<SeveralValue<Rest...>>::kSets;

  /// For the others, the number of a set of `first` wraps around to one that no set has.
  static void Add(Type& total, const SeveralValue<V, Rest...>& of_an_element, std::size_t number) {
    ElementTotal<V>::Add(total.first, of_an_element.first, number);
    ElementTotal<SeveralValue<Rest...>>::Add(total.rest, of_an_element.rest, number - ElementTotal<V>::kSets);
  }
};

/// A value whose result is itself: it is merged further before it has one.
template <CrdtValue V>
struct UnfinishedValue : V {
  const V& Result() const { return *this; }
};

static_assert(CrdtValue<UnfinishedValue<PresenceValue>>);

/// A value for records that update an entry of each set: of the updates by a record, the value takes the one that
/// counts.
template <CrdtValue V>
struct OncePerRecord : V {
  struct Input {
    using Members = std::tuple<typename V::Input>;
    template <typename Self, typename Visit>
    static void VisitMembers(Self& self, const Visit& visit) {
      visit("", self.input);
    }

    bool counts = false;
    [[no_unique_address]] typename V::Input input{};
  };

  void Update(const Input& input) {
    if (input.counts) {
      V::Update(input.input);
    }
  }
};

static_assert(CrdtValue<UnfinishedValue<OncePerRecord<SeveralValue<PresenceValue, CountValue>>>>);

}  // namespace glaive::state

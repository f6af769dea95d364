// ElementTotal: the total of a group whose set of elements is stored as one entry for each element. Elements are
// counted, and the other values beside them are merged.
//
// An entry's value covers the records with one element. So
//
//   SeveralValue<CountValue, PresenceValue, MaxValue<std::int64_t>> of_an_element;
//   using Total = ElementTotal<decltype(of_an_element)>;
//   Total::Type total;   // SeveralValue<CountValue, CountValue, MaxValue<std::int64_t>>
//   Total::Add(total, of_an_element);
#pragma once

#include "state/crdt/count.h"
#include "state/crdt/crdt.h"
#include "state/crdt/presence.h"
#include "state/crdt/several.h"

namespace glaive::state {

template <CrdtValue V>
struct ElementTotal {
  using Type = V;

  static void Add(V& total, const V& of_an_element) { total.Merge(of_an_element); }
};

template <>
struct ElementTotal<PresenceValue> {
  using Type = CountValue;

  static void Add(CountValue& total, const PresenceValue& /*of_an_element*/) { ++total.count; }
};

template <CrdtValue V>
struct ElementTotal<SeveralValue<V>> {
  using Type = SeveralValue<typename ElementTotal<V>::Type>;

  static void Add(Type& total, const SeveralValue<V>& of_an_element) {
    ElementTotal<V>::Add(total.first, of_an_element.first);
  }
};

template <CrdtValue V, CrdtValue... Rest>
  requires(sizeof...(Rest) > 0)
struct ElementTotal<SeveralValue<V, Rest...>> {
  using Type = SeveralValue<typename ElementTotal<V>::Type, typename ElementTotal<Rest>::Type...>;

  static void Add(Type& total, const SeveralValue<V, Rest...>& of_an_element) {
    ElementTotal<V>::Add(total.first, of_an_element.first);
    ElementTotal<SeveralValue<Rest...>>::Add(total.rest, of_an_element.rest);
  }
};

/// A value whose result is itself: it is merged further before it has one.
template <CrdtValue V>
struct UnfinishedValue : V {
  const V& Result() const { return *this; }
};

static_assert(CrdtValue<UnfinishedValue<PresenceValue>>);

}  // namespace glaive::state

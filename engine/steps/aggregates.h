// The aggregates a query can name: which CRDT value each stores, and what it reads of a record.
//
//   .Aggregate(Count{})
//   .Aggregate(Mean{&TaskEvent::cpu})
//   .Aggregate(Several{Count{}, Last{&Bid::time_ms, &Bid::price}})
//   .Aggregate(Distinct{&Bid::bidder})
//
// An aggregate of your own is a struct like these: `Value<R>` is a CRDT (state/crdt/crdt.h) and `Input` makes its input
// from a record. It is called for every record, so both should inline. `kName`, if it has one, is what --explain calls
// it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/steps/readable_inputs.h"
#include "state/crdt/count.h"
#include "state/crdt/extremum.h"
#include "state/crdt/mean.h"
#include "state/crdt/ordered.h"
#include "state/crdt/presence.h"
#include "state/crdt/several.h"
#include "state/crdt/sum.h"
#include "state/crdt/variance.h"
#include "state/index/key_hash.h"
#include "state/record/record.h"

namespace glaive::engine {

/// What stands for an aggregate whose arguments were refused, or what it derives from: `.Aggregate()` adds no error.
struct RefusedAggregate {};

/// How many records.
struct Count {
  static constexpr std::string_view kName = "count";

  template <typename R>
  using Value = state::CountValue;

  template <typename R>
  state::Nothing Input(const R&) const {
    return {};
  }
};

/// What the aggregates of one field have in common. `Field` is a member pointer or a callable on the record.
template <template <typename> typename V, typename Field>
struct FieldAggregate {
  template <typename R>
  using Value = V<std::remove_cvref_t<std::invoke_result_t<const Field&, const R&>>>;

  template <typename R>
  auto Input(const R& record) const {
    return std::invoke(field, record);
  }

  Field field;
};

/// The exact sum of a field: of integers 128 bits wide, of floating-point numbers rounded once at the end.
template <typename Field>
struct Sum : FieldAggregate<state::SumValue, Field> {
  static constexpr std::string_view kName = "sum";
  static constexpr Reads kReads = Reads::kNumbers;
};
/// The least value of a field: of numbers, none of which is NaN, or of texts, in the order of their bytes.
template <typename Field>
struct Min : FieldAggregate<state::MinValue, Field> {
  static constexpr std::string_view kName = "min";
  static constexpr Reads kReads = Reads::kNumbersAndTexts;
};
/// The greatest value of a field, likewise.
template <typename Field>
struct Max : FieldAggregate<state::MaxValue, Field> {
  static constexpr std::string_view kName = "max";
  static constexpr Reads kReads = Reads::kNumbersAndTexts;
};
/// The mean of a field: the double nearest to the exact sum by the count.
template <typename Field>
struct Mean : FieldAggregate<state::MeanValue, Field> {
  static constexpr std::string_view kName = "mean";
  static constexpr Reads kReads = Reads::kNumbers;
};
/// The population variance of a field: the double nearest to the exact one.
template <typename Field>
struct Variance : FieldAggregate<state::VarianceValue, Field> {
  static constexpr std::string_view kName = "variance";
  static constexpr Reads kReads = Reads::kNumbers;
};

template <typename Field>
Sum(Field) -> Sum<Field>;
template <typename Field>
Min(Field) -> Min<Field>;
template <typename Field>
Max(Field) -> Max<Field>;
template <typename Field>
Mean(Field) -> Mean<Field>;
template <typename Field>
Variance(Field) -> Variance<Field>;

/// What First and Last have in common: `order` says which record it is, `field` what of it.
template <template <typename, typename> typename V, typename Order, typename Field>
struct ChosenAggregate {
  template <typename R>
  using Value = V<std::remove_cvref_t<std::invoke_result_t<const Order&, const R&>>,
                  std::remove_cvref_t<std::invoke_result_t<const Field&, const R&>>>;

  template <typename R>
  typename Value<R>::Input Input(const R& record) const {
    return {.order = std::invoke(order, record), .value = std::invoke(field, record)};
  }

  Order order;
  Field field;
};

/// A field of the record with the least `order`, for instance its time; of several such the least value of the field.
/// Both are of types that compare in a total order: integers, texts, or structs with a defaulted operator<=>.
template <typename Order, typename Field>
struct First : ChosenAggregate<state::FirstValue, Order, Field> {
  static constexpr std::string_view kName = "first";
  static constexpr Reads kReads = Reads::kOrdered;
};
/// A field of the record with the greatest `order`; of several such the greatest value of the field.
template <typename Order, typename Field>
struct Last : ChosenAggregate<state::LastValue, Order, Field> {
  static constexpr std::string_view kName = "last";
  static constexpr Reads kReads = Reads::kOrdered;
};

/// What stands for an order that a query has left out.
struct NoOrder {};
template <typename Field>
struct First<NoOrder, Field> : RefusedAggregate {
  static_assert(sizeof(Field) == 0,
                "glaive: First{} takes what records are ordered by, and a field: First{order, field}");
  explicit First(Field) {}
};
template <typename Field>
struct Last<NoOrder, Field> : RefusedAggregate {
  static_assert(sizeof(Field) == 0,
                "glaive: Last{} takes what records are ordered by, and a field: Last{order, field}");
  explicit Last(Field) {}
};

template <typename Field>
First(Field) -> First<NoOrder, Field>;
template <typename Field>
Last(Field) -> Last<NoOrder, Field>;
template <typename Order, typename Field>
First(Order, Field) -> First<Order, Field>;
template <typename Order, typename Field>
Last(Order, Field) -> Last<Order, Field>;

/// The K greatest values of a field, of a type that compares in a total order; repeated ones as often as they came.
template <std::size_t K, typename Field>
struct TopKAggregate {
  static constexpr std::string_view kName = "top-k";
  static constexpr Reads kReads = Reads::kOrdered;

  template <typename R>
  using Value = state::TopKValue<K, std::remove_cvref_t<std::invoke_result_t<const Field&, const R&>>>;

  template <typename R>
  auto Input(const R& record) const {
    return std::invoke(field, record);
  }

  Field field;
};

/// `.Aggregate(TopK<10>(&Bid::price))`
template <std::size_t K, typename Field>
TopKAggregate<K, Field> TopK(Field field) {
  return {std::move(field)};
}

/// How many different values a field has, exactly. The state stores an entry for each. In Several, the entry of the
/// first Distinct has the values that stand beside it. Distinct is not for sessions, and with Unbounded only for
/// results at the end. The field is of a type that could be a key, without padding, pointers or floating-point numbers.
template <typename Field>
struct Distinct {
  static constexpr std::string_view kName = "distinct";
  static constexpr Reads kReads = Reads::kAnything;

  template <typename R>
  using Element = std::remove_cvref_t<std::invoke_result_t<const Field&, const R&>>;
  /// Of an element.
  template <typename R>
  using Value = state::PresenceValue;

  template <typename R>
  state::Nothing Input(const R&) const {
    return {};
  }
  template <typename R>
  Element<R> ElementOf(const R& record) const {
    return std::invoke(field, record);
  }

  Field field;
};

template <typename Field>
Distinct(Field) -> Distinct<Field>;

/// Several aggregates in one pass: `.Aggregate(Several{Count{}, Max{&Bid::price}})`. The result is a tuple.
template <typename... As>
struct Several;

template <typename A>
struct Several<A> {
  template <typename R>
  using Value = state::SeveralValue<typename A::template Value<R>>;

  template <typename R>
  typename Value<R>::Input Input(const R& record) const {
    return {first.Input(record)};
  }

  A first;
};

template <typename A, typename... Rest>
  requires(sizeof...(Rest) > 0)
struct Several<A, Rest...> {
  template <typename R>
  using Value = state::SeveralValue<typename A::template Value<R>, typename Rest::template Value<R>...>;

  explicit Several(A first_aggregate, Rest... others) : first(std::move(first_aggregate)), rest{std::move(others)...} {}

  template <typename R>
  typename Value<R>::Input Input(const R& record) const {
    return {first.Input(record), rest.Input(record)};
  }

  A first;
  Several<Rest...> rest;
};

template <typename... As>
Several(As...) -> Several<As...>;

/// What `.Aggregate()` takes for records of type R.
template <typename A, typename R>
concept AggregateOf = state::CrdtValue<typename A::template Value<R>> && requires(const A& aggregate, const R& record) {
  { aggregate.Input(record) } -> std::convertible_to<typename A::template Value<R>::Input>;
};

/// How many Distinct an aggregate is or holds. The state has an entry for each of their elements.
template <typename A>
inline constexpr std::size_t kDistincts = 0;
template <typename Field>
inline constexpr std::size_t kDistincts<Distinct<Field>> = 1;
template <typename... As>
inline constexpr std::size_t kDistincts<Several<As...>> = (kDistincts<As> + ... + 0);

/// A record's element for Distinct number `kNumber` of those that an aggregate is or holds.
template <std::size_t kNumber, typename A, typename R>
auto ElementOf(const A& aggregate, const R& record) {
  if constexpr (requires { aggregate.ElementOf(record); }) {
    return aggregate.ElementOf(record);
  } else {
    constexpr std::size_t kOfFirst = kDistincts<decltype(aggregate.first)>;
    if constexpr (kNumber < kOfFirst) {
      return ElementOf<kNumber>(aggregate.first, record);
    } else {
      return ElementOf<kNumber - kOfFirst>(aggregate.rest, record);
    }
  }
}

/// Whether the elements of a Distinct can be part of a key; true of other aggregates.
template <typename A, typename R>
inline constexpr bool kElementsAreKeys = true;
template <typename Field, typename R>
inline constexpr bool kElementsAreKeys<Distinct<Field>, R> =
    requires { requires state::StateKey<typename Distinct<Field>::template Element<R>>; };
template <typename... As, typename R>
inline constexpr bool kElementsAreKeys<Several<As...>, R> = (kElementsAreKeys<As, R> && ...);

/// What --explain calls an aggregate: "count"; of several "count, mean".
template <typename A>
std::string AggregateName(const A& aggregate) {
  if constexpr (requires { aggregate.rest; }) {
    return AggregateName(aggregate.first) + ", " + AggregateName(aggregate.rest);
  } else if constexpr (requires { aggregate.first; }) {
    return AggregateName(aggregate.first);
  } else if constexpr (requires { A::kName; }) {
    return std::string(A::kName);
  } else {
    return "an aggregate of the query's own";
  }
}

}  // namespace glaive::engine

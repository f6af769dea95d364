// The aggregates a query can name: which CRDT value each keeps, and what it reads of a record.
//
//   .Aggregate(Count{})
//   .Aggregate(Mean{&TaskEvent::cpu_milli})
//
// An aggregate of your own is a struct like these: `Value<R>` is a CRDT (state/crdt/crdt.h) and `Input` makes its input
// from a record. It is called for every record, so both should inline.
#pragma once

#include <functional>
#include <type_traits>

#include "state/crdt/count.h"
#include "state/crdt/extremum.h"
#include "state/crdt/mean.h"
#include "state/crdt/sum.h"

namespace glaive::engine {

/// How many records.
struct Count {
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

/// The exact sum of an integer field, 128 bits wide.
template <typename Field>
struct Sum : FieldAggregate<state::SumValue, Field> {};
/// The least value of a field.
template <typename Field>
struct Min : FieldAggregate<state::MinValue, Field> {};
/// The greatest value of a field.
template <typename Field>
struct Max : FieldAggregate<state::MaxValue, Field> {};
/// The mean of an integer field: the exact sum, divided once.
template <typename Field>
struct Mean : FieldAggregate<state::MeanValue, Field> {};

template <typename Field>
Sum(Field) -> Sum<Field>;
template <typename Field>
Min(Field) -> Min<Field>;
template <typename Field>
Max(Field) -> Max<Field>;
template <typename Field>
Mean(Field) -> Mean<Field>;

/// What `.Aggregate()` takes for records of type R.
template <typename A, typename R>
concept AggregateOf = state::CrdtValue<typename A::template Value<R>> && requires(const A& aggregate, const R& record) {
  { aggregate.Input(record) } -> std::convertible_to<typename A::template Value<R>::Input>;
};

}  // namespace glaive::engine

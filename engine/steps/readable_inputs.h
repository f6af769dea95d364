// ReadableInputs: whether an aggregate can compute with what it reads of records, and sentences for the compiler to
// print where it cannot.
//
// An aggregate that says by `kReads` what it can compute with reads by its members `field` and `order`. One that takes
// whole records says by `kWhyNot<R>` why not those of R. One of a query's own may have neither: it is not examined.
//
//   if constexpr (ExpectReadable<A, Record>()) { ... the aggregate's Value<Record> can be instantiated ... }
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "state/crdt/ordered.h"
#include "state/record/record.h"

namespace glaive::engine {

/// What an aggregate can compute with.
enum class Reads : std::uint8_t { kAnything, kNumbers, kNumbersAndTexts, kOrdered };

/// Why an aggregate cannot read a field.
enum class Unreadable : std::uint8_t {
  kNothing,
  kOfOtherRecord,
  kHiddenText,
  kNoNumber,
  kNoText,
  kNoOrder,
  kFoldsOthers,
  kReducesOthers,
};

/// Of a field that is a `T`.
template <Reads kReads, typename T>
consteval Unreadable UnreadableValue() {
  if constexpr (kHidesText<T>) {
    return Unreadable::kHiddenText;
  } else if constexpr (kReads == Reads::kNumbers) {
    return std::is_arithmetic_v<T> ? Unreadable::kNothing : Unreadable::kNoNumber;
  } else if constexpr (kReads == Reads::kNumbersAndTexts) {
    return std::is_arithmetic_v<T> || std::is_same_v<T, Text> ? Unreadable::kNothing : Unreadable::kNoText;
  } else if constexpr (kReads == Reads::kOrdered) {
    return state::TotallyOrdered<T> ? Unreadable::kNothing : Unreadable::kNoOrder;
  } else {
    return Unreadable::kNothing;
  }
}

/// Of what `Field`, a member or a function, is of a record R.
template <Reads kReads, typename Field, typename R>
consteval Unreadable UnreadableField() {
  if constexpr (std::is_invocable_v<const Field&, const R&>) {
    return UnreadableValue<kReads, std::remove_cvref_t<std::invoke_result_t<const Field&, const R&>>>();
  } else {
    return Unreadable::kOfOtherRecord;
  }
}

/// Of an aggregate; of Several the first reason. It may be an aggregate of a query's own.
template <typename A, typename R>
consteval Unreadable UnreadableOf() {
  Unreadable reason = Unreadable::kNothing;
  const auto add = [&reason](Unreadable other) { reason = reason == Unreadable::kNothing ? other : reason; };
  if constexpr (requires(const A& aggregate) { aggregate.first; }) {
    add(UnreadableOf<std::remove_cvref_t<decltype(std::declval<const A&>().first)>, R>());
  }
  if constexpr (requires(const A& aggregate) { aggregate.rest; }) {
    add(UnreadableOf<std::remove_cvref_t<decltype(std::declval<const A&>().rest)>, R>());
  }
  if constexpr (requires(const A& aggregate) { A::kReads, aggregate.order; }) {
    add(UnreadableField<A::kReads, decltype(A::order), R>());
  }
  if constexpr (requires(const A& aggregate) { A::kReads, aggregate.field; }) {
    add(UnreadableField<A::kReads, decltype(A::field), R>());
  }
  if constexpr (requires { A::template kWhyNot<R>; }) {
    add(A::template kWhyNot<R>);
  }
  return reason;
}

/// Refuses an aggregate that cannot read what it reads, with a sentence; whether it may go on.
template <typename A, typename R>
constexpr bool ExpectReadable() {
  constexpr Unreadable kWhy = UnreadableOf<A, R>();
  static_assert(
      kWhy != Unreadable::kOfOtherRecord,
      "glaive: an aggregate reads a member, or calls a function, of the stream's records: const Record&; this "
      "one is of another type");
  static_assert(kWhy != Unreadable::kHiddenText,
                "glaive: an aggregate reads a struct with a Text that is not described: write GLAIVE_RECORD(Struct, "
                "member, member, ...) beside it");
  static_assert(
      kWhy != Unreadable::kNoNumber,
      "glaive: Sum{}, Mean{} and Variance{} read numbers of up to 64 bits; a Text or a struct is none: name a "
      "member that is one, or make one in a lambda");
  static_assert(kWhy != Unreadable::kNoText,
                "glaive: Min{} and Max{} read numbers or texts; of a struct, TopK<1>() tells the greatest");
  static_assert(
      kWhy != Unreadable::kNoOrder,
      "glaive: First{}, Last{} and TopK<K>() read what compares in a total order: integers, texts, or structs "
      "with a defaulted operator<=>; floating-point numbers do not");
  static_assert(kWhy != Unreadable::kFoldsOthers,
                "glaive: the first function of FoldAssoc() takes an accumulator, A&, and a record of the stream, const "
                "Record&; this one takes others");
  static_assert(
      kWhy != Unreadable::kReducesOthers,
      "glaive: ReduceAssoc() takes a function of two records of the stream, const Record&, which returns one; "
      "this one is of others");
  return kWhy == Unreadable::kNothing;
}

}  // namespace glaive::engine

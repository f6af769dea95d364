// What steps expect of the functions that a query hands to them. Each check is a sentence for the compiler to print: a
// step that a function does not fit returns a WrongOrder, so that no other error follows.
//
//   template <typename Function>
//   auto Map(Function function) && {
//     if constexpr (ExpectValueOf<Record, Function>()) { ... } else { return WrongOrder{}; }
//   }
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <type_traits>

#include "engine/steps/steps.h"
#include "state/index/key_hash.h"
#include "state/record/record.h"

namespace glaive::engine {

/// What a function returns for a record.
template <typename Function, typename R, typename... More>
using ReturnedFor = std::remove_cvref_t<std::invoke_result_t<const Function&, const R&, More...>>;

/// Whether a function, or a member, can be called with a record and `More`.
template <typename R, typename Function, typename... More>
constexpr bool ExpectFunctionOf() {
  if constexpr (std::invocable<const Function&, const R&, More...>) {
    return true;
  } else {
    constexpr bool kIsMutable = std::invocable<Function&, const R&, More...>;
    constexpr bool kChangesRecord = !kIsMutable && std::invocable<const Function&, R&, More...>;
    static_assert(
        !kIsMutable,
        "glaive: a function of a query is const, since all executors of a process share it: no mutable lambda; "
        "RichMap(), RichFilterMap() and RichFlatMap() give it a state");
    static_assert(!kChangesRecord,
                  "glaive: a function of a query takes its record by value or as const Record&, and cannot change it; "
                  "Map() returns a new one");
    constexpr bool kTakesOthers = !kIsMutable && !kChangesRecord;
    static_assert(
        !kTakesOthers || sizeof...(More) > 0,
        "glaive: this step takes a function, or a member, of the stream's records: const Record&; this one is "
        "of another type: Map() the records to that type before, or read a member of theirs");
    static_assert(!kTakesOthers || sizeof...(More) == 0,
                  "glaive: this step takes a function of a record, const Record&, and of a second value: of "
                  "JoinTable() the table's, of MapWithTime() the event time, of a LoopState the state; this one takes "
                  "others");
    return false;
  }
}

/// Whether a function can be called with a record, and says yes or no.
template <typename R, typename Predicate>
constexpr bool ExpectPredicateOf() {
  if constexpr (!ExpectFunctionOf<R, Predicate>()) {
    return false;
  } else {
    constexpr bool kSaysYesOrNo = std::predicate<const Predicate&, const R&>;
    static_assert(kSaysYesOrNo, "glaive: this step takes a function of a record that returns a bool");
    return kSaysYesOrNo;
  }
}

/// Whether a function can be called with a record and `More`, and returns something.
template <typename R, typename Function, typename... More>
constexpr bool ExpectValueOf() {
  if constexpr (!ExpectFunctionOf<R, Function, More...>()) {
    return false;
  } else {
    constexpr bool kReturns = !std::is_void_v<ReturnedFor<Function, R, More...>>;
    static_assert(kReturns,
                  "glaive: this step takes a function that returns a value; Inspect() calls one for its effect");
    return kReturns;
  }
}

/// Whether a function can be called with a record, and returns a std::optional.
template <typename R, typename Function>
constexpr bool ExpectOptionalOf() {
  if constexpr (!ExpectFunctionOf<R, Function>()) {
    return false;
  } else {
    constexpr bool kReturnsOptional = kIsOptional<ReturnedFor<Function, R>>;
    static_assert(kReturnsOptional,
                  "glaive: FilterMap() takes a function that returns a std::optional; Map() takes one that always "
                  "returns a value");
    return kReturnsOptional;
  }
}

/// Whether a function can be called with a record, and returns a range.
template <typename R, typename Function>
constexpr bool ExpectRangeOf() {
  if constexpr (!ExpectFunctionOf<R, Function>()) {
    return false;
  } else {
    constexpr bool kReturnsRange = std::ranges::input_range<std::invoke_result_t<const Function&, const R&>>;
    static_assert(
        kReturnsRange,
        "glaive: FlatMap() takes a function that returns a range, such as a std::vector; Map() takes one that "
        "returns a single value");
    return kReturnsRange;
  }
}

/// Whether a function can be called with a record, and returns milliseconds.
template <typename R, typename Time>
constexpr bool ExpectTimeOf() {
  if constexpr (!ExpectFunctionOf<R, Time>()) {
    return false;
  } else {
    constexpr bool kReturnsMillis = std::is_invocable_r_v<std::int64_t, const Time&, const R&>;
    static_assert(kReturnsMillis,
                  "glaive: WithEventTime() takes a function, or a member, that returns milliseconds since 1970 as a "
                  "std::int64_t");
    return kReturnsMillis;
  }
}

/// Whether a function can be called with a record, and returns a key.
template <typename R, typename Key>
constexpr bool ExpectKeyOf() {
  if constexpr (!ExpectValueOf<R, Key>()) {
    return false;
  } else {
    using K = ReturnedFor<Key, R>;
    ExpectDescribedTexts<K>();
    constexpr bool kIsKey = state::StateKey<K>;
    static_assert(kIsKey || kHidesText<K>,
                  "glaive: KeyBy() needs a key without padding, pointers or floating-point numbers, and with an "
                  "operator==");
    return kIsKey;
  }
}

/// Whether a function can be called with a record, and returns a key of a table with keys of type K.
template <typename R, typename Key, typename K>
constexpr bool ExpectTableKeyOf() {
  if constexpr (!ExpectValueOf<R, Key>()) {
    return false;
  } else {
    constexpr bool kIsKey = std::is_convertible_v<ReturnedFor<Key, R>, K>;
    static_assert(kIsKey, "glaive: JoinTable() takes the key of a record as the table has it, of the table's key type");
    return kIsKey;
  }
}

/// Whether a function can be called with a state, which it may change, and a record.
template <typename R, typename Function, typename State>
constexpr bool ExpectStatefulFunctionOf() {
  constexpr bool kFits = std::invocable<const Function&, State&, const R&>;
  static_assert(
      kFits,
      "glaive: RichMap(), RichFilterMap() and RichFlatMap() take a function of a state, State&, and a record, "
      "const Record&, which is const: what it changes is its state, and no mutable lambda");
  return kFits;
}

}  // namespace glaive::engine

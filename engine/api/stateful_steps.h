// RichMap, RichFilterMap and RichFlatMap of a stream, whose state is the executor's, and of a stream by key, whose
// state is the key's: `function(state, record)` may change a state that begins as a copy of `initial`.
//
// What moves: nothing on a stream. On a stream by key each record moves to the leader of its key, as by Partition(),
// unless it is there already.
//
// A state may have texts. They are copied behind each call that has changed them, so the function may put a record's
// texts there, or parts of them.
//
//   .RichMap(std::uint64_t{0}, [](std::uint64_t& count, const Word& word) { return Numbered{++count, word}; })
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>

#include "engine/api/functions.h"
#include "engine/api/wrong_order.h"
#include "engine/steps/stateful.h"
#include "engine/steps/steps.h"
#include "state/record/record.h"

namespace glaive::engine {

/// What a StreamT of records R inherits. It has a ThroughStep<Range>(initial, step) &&, which makes the stream of what
/// the step makes of its records and states; Range: of the records that it makes.
template <typename StreamT, typename R>
class StatefulSteps {
 public:
  /// As Map: replaces every record by what `function` returns.
  template <typename State, typename Function>
  auto RichMap(State initial, Function function) && {
    if constexpr (ExpectStatefulFunctionOf<R, Function, State>()) {
      using Out = std::remove_cvref_t<std::invoke_result_t<const Function&, State&, const R&>>;
      constexpr bool kReturns = !std::is_void_v<Out>;
      static_assert(kReturns,
                    "glaive: RichMap() takes a function that returns a value; RichFilterMap() may return none");
      if constexpr (kReturns) {
        return Self().template ThroughStep<std::array<Out, 1>>(std::move(initial),
                                                               OneWithState<Function>{std::move(function)});
      } else {
        return WrongOrder{};
      }
    } else {
      return WrongOrder{};
    }
  }

  /// As FilterMap: `function` returns an optional, and records without a value are dropped.
  template <typename State, typename Function>
  auto RichFilterMap(State initial, Function function) && {
    if constexpr (ExpectStatefulFunctionOf<R, Function, State>()) {
      using Made = std::remove_cvref_t<std::invoke_result_t<const Function&, State&, const R&>>;
      constexpr bool kReturnsOptional = kIsOptional<Made>;
      static_assert(kReturnsOptional, "glaive: RichFilterMap() takes a function that returns a std::optional");
      if constexpr (kReturnsOptional) {
        return Self().template ThroughStep<std::array<typename Made::value_type, 1>>(
            std::move(initial), OneOrNoneWithState<Function>{std::move(function)});
      } else {
        return WrongOrder{};
      }
    } else {
      return WrongOrder{};
    }
  }

  /// As FlatMap: replaces every record by those in the range that `function` returns.
  template <typename State, typename Function>
  auto RichFlatMap(State initial, Function function) && {
    if constexpr (ExpectStatefulFunctionOf<R, Function, State>()) {
      using Range = std::invoke_result_t<const Function&, State&, const R&>;
      constexpr bool kReturnsRange = std::ranges::input_range<Range>;
      static_assert(kReturnsRange,
                    "glaive: RichFlatMap() takes a function that returns a range, such as a std::vector");
      if constexpr (kReturnsRange) {
        return Self().template ThroughStep<Range>(std::move(initial), EachWithState<Function>{std::move(function)});
      } else {
        return WrongOrder{};
      }
    } else {
      return WrongOrder{};
    }
  }

 private:
  friend StreamT;
  StatefulSteps() = default;

  StreamT&& Self() { return static_cast<StreamT&&>(*this); }
};

/// A state outlives the batch whose memory the texts of a record are in, so the engine has to find and copy them.
template <typename State>
constexpr void ExpectTextsToOwn() {
  ExpectDescribedTexts<State>();
  static_assert(!kHasText<State> || std::is_trivially_copyable_v<State>,
                "glaive: a state with a Text is plain data; in a container such as std::vector its bytes would be gone "
                "when the next record comes: store a std::string there");
}

/// Whether Fold() and Scan() take the function.
template <typename Function, typename State, typename R>
constexpr bool ExpectFoldFunction() {
  constexpr bool kFits = FoldFunction<Function, State, R>;
  static_assert(kFits,
                "glaive: Fold() and Scan() take a function of a state, State&, and a record, const Record&, which "
                "changes the state and returns nothing, or returns the new state");
  return kFits;
}

/// Whether Reduce() takes the function.
template <typename Function, typename R>
constexpr bool ExpectReduceFunction() {
  constexpr bool kFits = FoldFunction<Function, R, R>;
  static_assert(
      kFits,
      "glaive: Reduce() takes a function of a record, Record&, and the next one, const Record&, which changes "
      "the first and returns nothing, or returns the new one");
  return kFits;
}

}  // namespace glaive::engine

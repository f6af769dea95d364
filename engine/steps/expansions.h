// What is made of one record where a chain of steps ends without a stage or a sink: any number of records.
//
// An expansion is called with a record and `emit`, and calls emit(made) for each record that it makes. An executor has
// its own copy of it, so it may have a `State state`: that of the executor, which owns the texts of it between the
// calls. `kName` is what --explain calls it.
//
//   EachOf{[](const Line& line) { return WordsOf(line); }}(line, [&](const Word& word) { ... });
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "state/record/record.h"

namespace glaive::engine {

/// The record as it is.
struct Itself {
  static constexpr std::string_view kName = "event times beside the records";

  template <typename R, typename Emit>
  void operator()(const R& record, const Emit& emit) {
    emit(record);
  }
};

/// Likewise, where the copies of a stream go on with the records that the steps before have made.
struct ForAllCopies : Itself {
  static constexpr std::string_view kName = "cache";
};

/// The elements of the range that `function` returns.
template <typename Function>
struct EachOf {
  static constexpr std::string_view kName = "flat map";

  template <typename R, typename Emit>
  void operator()(const R& record, const Emit& emit) {
    for (const auto& made : std::invoke(std::as_const(function), record)) {
      emit(made);
    }
  }

  Function function;
};

/// What a step with a state (stateful.h) makes of the executor's state and the record.
template <typename StateT, typename StatefulStep>
struct OwnState {
  using State = StateT;
  static constexpr std::string_view kName = StatefulStep::kName;

  template <typename R, typename Emit>
  void operator()(const R& record, const Emit& emit) {
    std::as_const(step)(state, record, emit);
  }

  State state;
  StatefulStep step;
};

/// Whether an expansion has a state with texts.
template <typename Expansion>
inline constexpr bool kHasTextsInState = false;
template <typename Expansion>
  requires requires { typename Expansion::State; }
inline constexpr bool kHasTextsInState<Expansion> = kHasText<typename Expansion::State>;

}  // namespace glaive::engine

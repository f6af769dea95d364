// What is made of one record where a chain of steps ends without a stage or a sink: any number of records.
//
// An expansion is called with a record and `emit`, and calls emit(made) for each record that it makes. An executor has
// its own copy of it, so it may have state: that of the executor.
//
//   EachOf{[](const Line& line) { return WordsOf(line); }}(line, [&](const Word& word) { ... });
#pragma once

#include <functional>
#include <optional>
#include <utility>

namespace glaive::engine {

/// The record as it is.
struct Itself {
  template <typename R, typename Emit>
  void operator()(const R& record, const Emit& emit) {
    emit(record);
  }
};

/// The elements of the range that `function` returns.
template <typename Function>
struct EachOf {
  template <typename R, typename Emit>
  void operator()(const R& record, const Emit& emit) {
    for (const auto& made : std::invoke(std::as_const(function), record)) {
      emit(made);
    }
  }

  Function function;
};

/// What `function` returns of the executor's state and the record: one record.
template <typename State, typename Function>
struct OneWithState {
  template <typename R, typename Emit>
  void operator()(const R& record, const Emit& emit) {
    emit(std::invoke(std::as_const(function), state, record));
  }

  State state;
  Function function;
};

/// Likewise: the value of an optional, or none.
template <typename State, typename Function>
struct OneOrNoneWithState {
  template <typename R, typename Emit>
  void operator()(const R& record, const Emit& emit) {
    if (const auto made = std::invoke(std::as_const(function), state, record)) {
      emit(*made);
    }
  }

  State state;
  Function function;
};

/// Likewise: the elements of a range.
template <typename State, typename Function>
struct EachWithState {
  template <typename R, typename Emit>
  void operator()(const R& record, const Emit& emit) {
    for (const auto& made : std::invoke(std::as_const(function), state, record)) {
      emit(made);
    }
  }

  State state;
  Function function;
};

}  // namespace glaive::engine

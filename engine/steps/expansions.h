// What is made of one record where a chain of steps ends without a stage or a sink: any number of records.
//
// An expansion is called with a record and `emit`, and calls emit(made) for each record that it makes. An executor has
// its own copy of it, so it may have state: that of the executor. `kName` is what --explain calls it.
//
//   EachOf{[](const Line& line) { return WordsOf(line); }}(line, [&](const Word& word) { ... });
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace glaive::engine {

/// The record as it is.
struct Itself {
  static constexpr std::string_view kName = "event times beside the records";

  template <typename R, typename Emit>
  void operator()(const R& record, const Emit& emit) {
    emit(record);
  }
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

/// What `function` returns of the executor's state and the record: one record.
template <typename State, typename Function>
struct OneWithState {
  static constexpr std::string_view kName = "rich map";

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
  static constexpr std::string_view kName = "rich filter map";

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
  static constexpr std::string_view kName = "rich flat map";

  template <typename R, typename Emit>
  void operator()(const R& record, const Emit& emit) {
    for (const auto& made : std::invoke(std::as_const(function), state, record)) {
      emit(made);
    }
  }

  State state;
  Function function;
};

/// For OneOrNoneWithState: the first `count` records; the state is how many there were.
struct AtMost {
  template <typename R>
  std::optional<R> operator()(std::uint64_t& taken, const R& record) const {
    return taken < count ? (++taken, std::optional(record)) : std::nullopt;
  }

  std::uint64_t count;
};

}  // namespace glaive::engine

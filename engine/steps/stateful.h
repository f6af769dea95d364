// Steps with a state: what is made of a record and a state that the step may change.
//
// A step is called with a state, a record and `emit`, and calls emit(made) for each record that it makes. Whose state
// it is, the step does not say: that of the executor (OwnState in expansions.h), or of the record's key
// (engine/graph/keyed_operator.h). A fold makes nothing of a record: it has a Result of each state, at the end of the
// stream. `kName` is what --explain calls a step.
//
//   OneWithState step{[](std::uint64_t& count, const Line& line) { return Numbered{++count, line}; }};
//   step(count, line, [&](const Numbered& made) { ... });
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "state/record/record.h"

namespace glaive::engine {

/// What `function` returns: one record.
template <typename Function>
struct OneWithState {
  static constexpr std::string_view kName = "rich map";

  template <typename State, typename R, typename Emit>
  void operator()(State& state, const R& record, const Emit& emit) const {
    emit(std::invoke(function, state, record));
  }

  Function function;
};

/// Likewise: the value of an optional, or none.
template <typename Function>
struct OneOrNoneWithState {
  static constexpr std::string_view kName = "rich filter map";

  template <typename State, typename R, typename Emit>
  void operator()(State& state, const R& record, const Emit& emit) const {
    if (const auto made = std::invoke(function, state, record)) {
      emit(*made);
    }
  }

  Function function;
};

/// Likewise: the elements of a range.
template <typename Function>
struct EachWithState {
  static constexpr std::string_view kName = "rich flat map";

  template <typename State, typename R, typename Emit>
  void operator()(State& state, const R& record, const Emit& emit) const {
    for (const auto& made : std::invoke(function, state, record)) {
      emit(made);
    }
  }

  Function function;
};

/// A function that adds a record to a state: `function(state, record)` changes the state and returns nothing, or
/// returns the new one.
template <typename Function, typename State, typename R>
concept FoldFunction =
    std::invocable<const Function&, State&, const R&> &&
    (std::is_void_v<std::invoke_result_t<const Function&, State&, const R&>> ||
     std::is_same_v<std::remove_cvref_t<std::invoke_result_t<const Function&, State&, const R&>>, State>);

template <typename State, typename R, FoldFunction<State, R> Function>
void AddTo(State& state, const R& record, const Function& function) {
  if constexpr (std::is_void_v<std::invoke_result_t<const Function&, State&, const R&>>) {
    std::invoke(function, state, record);
  } else {
    state = std::invoke(function, state, record);
  }
}

/// The state behind each record.
template <typename Function>
struct Running {
  static constexpr std::string_view kName = "scan";

  template <typename State, typename R, typename Emit>
  void operator()(State& state, const R& record, const Emit& emit) const {
    AddTo(state, record, function);
    emit(std::as_const(state));
  }

  Function function;
};

/// A key and its state: a row of Scan.
template <typename K, typename S>
struct KeyedState {
  using Members = std::tuple<K, S>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("key", self.key);
    visit("value", self.value);
  }

  K key{};
  S value{};

  friend bool operator==(const KeyedState&, const KeyedState&) = default;
};

/// The state behind each record, with the record's key.
template <typename Function, typename Key>
struct RunningOfKey {
  static constexpr std::string_view kName = "scan";

  template <typename State, typename R, typename Emit>
  void operator()(State& state, const R& record, const Emit& emit) const {
    using K = std::remove_cvref_t<std::invoke_result_t<const Key&, const R&>>;
    AddTo(state, record, function);
    emit(KeyedState<K, State>{.key = std::invoke(key, record), .value = state});
  }

  Function function;
  Key key;
};

/// All records, added to the state one by one.
template <typename Function>
struct FoldedInOrder {
  static constexpr std::string_view kName = "fold";

  template <typename State, typename R, typename Emit>
  void operator()(State& state, const R& record, const Emit& /*emit*/) const {
    AddTo(state, record, function);
  }
  template <typename State>
  State Result(const State& state) const {
    return state;
  }

  Function function;
};

/// Likewise, from the first record on. The state is a std::optional of a record.
template <typename Function>
struct ReducedInOrder {
  static constexpr std::string_view kName = "reduce";

  template <typename R, typename Emit>
  void operator()(std::optional<R>& state, const R& record, const Emit& /*emit*/) const {
    if (state) {
      AddTo(*state, record, function);
    } else {
      state = record;
    }
  }
  template <typename R>
  R Result(const std::optional<R>& state) const {
    return *state;
  }

  Function function;
};

/// For OneOrNoneWithState: the first record of a key; the state is whether there was one.
struct FirstOfKey {
  template <typename R>
  std::optional<R> operator()(bool& has_come, const R& record) const {
    return std::exchange(has_come, true) ? std::nullopt : std::optional(record);
  }
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

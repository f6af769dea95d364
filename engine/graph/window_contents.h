// What is made of the records of a window: an aggregate of them, or what a function makes of all of them.
//
//   AggregateOfWindow{Count{}}
//   FunctionOfWindow{[](std::uint64_t user, NumberedWindow window, std::span<const Click> clicks) { ... }}
//
// A function of Process gets the key, the window, and a span of the window's records in the order in which they came.
// Without a key it gets window and span. It returns one value, or none or one in a std::optional, or a range of values,
// such as a std::vector. The span is valid until it returns.
#pragma once

#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/sink/sink.h"
#include "engine/steps/aggregates.h"
#include "engine/steps/steps.h"
#include "state/record/record.h"

namespace glaive::engine {

/// The value of a row, if a function of Process returns a Result.
template <typename Result>
struct ValueOfResult : std::type_identity<Result> {};
template <typename T>
struct ValueOfResult<std::optional<T>> : std::type_identity<T> {};
template <typename Result>
  requires(std::ranges::input_range<Result> && !std::is_same_v<Result, Text>)
struct ValueOfResult<Result> : std::type_identity<std::ranges::range_value_t<Result>> {};

/// Calls `emit(value)` for each value that a function of Process has returned.
template <typename Result, typename Emit>
void EmitValues(const Result& result, const Emit& emit) {
  if constexpr (std::is_same_v<typename ValueOfResult<Result>::type, Result>) {
    emit(result);
  } else if constexpr (kIsOptional<Result>) {
    if (result) {
      emit(*result);
    }
  } else {
    for (const auto& value : result) {
      emit(value);
    }
  }
}

/// Calls a function of Process.
template <typename Function, typename K, typename Window, typename R>
auto CallProcess(const Function& function, const K& key, const Window& window, std::span<const R> records) {
  if constexpr (std::is_same_v<K, AllRecords>) {
    return std::invoke(function, window, records);
  } else {
    return std::invoke(function, key, window, records);
  }
}

/// Whether Process takes a function for records R with keys K.
template <typename Function, typename K, typename Window, typename R>
inline constexpr bool kIsProcess = std::is_invocable_v<const Function&, const K&, const Window&, std::span<const R>>;
template <typename Function, typename Window, typename R>
inline constexpr bool kIsProcess<Function, AllRecords, Window, R> =
    std::is_invocable_v<const Function&, const Window&, std::span<const R>>;

/// The value of its rows.
template <typename Function, typename K, typename Window, typename R>
using ProcessValue = typename ValueOfResult<std::remove_cvref_t<decltype(CallProcess(
    std::declval<const Function&>(), std::declval<const K&>(), std::declval<const Window&>(),
    std::declval<std::span<const R>>()))>>::type;

/// The results of an aggregate: it stores a value for each part of a window.
template <typename A, typename R>
struct AggregateOfWindow {
  using Element = typename A::template Value<R>;
  using Value = decltype(std::declval<const Element&>().Result());
  static constexpr bool kHasParts = true;

  std::string Describe() const { return AggregateName(aggregate); }

  /// A new part is Element{}.
  void Add(Element& part, const R& record) const { part.Update(aggregate.Input(record)); }

  /// Calls `emit(value)` for each row of a window.
  template <typename K, typename Window, typename Emit>
  void Make(const K& /*key*/, const Window& /*window*/, std::span<const Element> parts, const Emit& emit) const {
    Element total = parts.front();
    for (const Element& part : parts.subspan(1)) {
      total.Merge(part);
    }
    emit(total.Result());
  }

  A aggregate;
};

/// The results of a function of the whole window: it stores the records.
template <typename Function, typename K, typename Window, typename R>
struct FunctionOfWindow {
  using Element = R;
  using Value = ProcessValue<Function, K, Window, R>;
  static constexpr bool kHasParts = false;

  std::string Describe() const { return "a function of all records"; }

  template <typename Emit>
  void Make(const K& key, const Window& window, std::span<const R> records, const Emit& emit) const {
    EmitValues(CallProcess(function, key, window, records), emit);
  }

  Function function;
};

}  // namespace glaive::engine

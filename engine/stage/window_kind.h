// WindowKind: the concept of a kind of window, which makes the results. A WindowTrigger (window_trigger.h) is made of
// one.
//
//   TumblingResults, SlidingResults, SessionResults, UnboundedResults                  of an aggregation
//   WindowJoinResults, SessionJoinResults, UnwindowedJoinResults                       of a join
//   DistinctResults                                                                    of one of the first four
//   WindowContentResults, SessionContentResults                                        of a function of all records
#pragma once

#include <concepts>
#include <cstdint>

#include "absl/status/status.h"

#include "engine/fiber/fiber.h"

namespace glaive::engine {

/// Results of windows that have ended:
///
///   has_more(fired)             whether the window after `fired` has results even if no new slice is in it
///   Fire(fiber, window, emit)   calls emit(start_ms, end_ms, key, result) for each result of the window, until one
///                               returns an error. Yields where it visits much state between two of them.
///   merges()                    how often two values were merged to put windows together from slices
template <typename Kind, typename EmitFn>
concept WindowKind = requires(Kind kind, const Kind& same, Fiber& fiber, std::int64_t window, const EmitFn& emit) {
  { same.has_more(window) } -> std::same_as<bool>;
  { kind.Fire(fiber, window, emit) } -> std::same_as<absl::Status>;
  { same.merges() } -> std::same_as<std::uint64_t>;
};

/// Results before a window ends, too:
///
///   has_early()                 whether there are any now
///   EmitEarly(fiber, emit)      calls emit for each
///   EmitLast(fiber, emit)       calls emit for those that are left at the end of the stream
template <typename Kind, typename EmitFn>
concept EarlyWindowKind =
    WindowKind<Kind, EmitFn> && requires(Kind kind, const Kind& same, Fiber& fiber, const EmitFn& emit) {
      { same.has_early() } -> std::same_as<bool>;
      { kind.EmitEarly(fiber, emit) } -> std::same_as<absl::Status>;
      { kind.EmitLast(fiber, emit) } -> std::same_as<absl::Status>;
    };

}  // namespace glaive::engine

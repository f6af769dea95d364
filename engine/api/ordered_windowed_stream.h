// OrderedWindowedStream: a stream behind Window(CountWindow{...}) or Window(Transaction(...)): it can be aggregated or
// processed. See stream.h, and engine/window/ordered_windows.h for what these windows are.
//
// What moves: each record, to the leader of its key, or without a key to executor 0, by the exchange that Window() has
// put in front. The windows move nothing.
//
// Rows are NumberedResult<Key, T>. They are a stream, of which each has the event time of its window's last record.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "engine/api/named_stream.h"
#include "engine/api/timed_stream.h"
#include "engine/api/wrong_order.h"
#include "engine/graph/ordered_window_operator.h"
#include "engine/graph/window_contents.h"
#include "engine/steps/aggregates.h"
#include "engine/window/ordered_windows.h"
#include "state/record/record.h"

namespace glaive::engine {

/// Refuses what Process() takes, with a sentence; whether it may go on.
template <typename Function, typename K, typename Window, typename R>
constexpr bool ExpectProcessFunction() {
  constexpr bool kFits = kIsProcess<Function, K, Window, R>;
  static_assert(
      kFits,
      "glaive: Process() takes a function of the key, the window and a std::span<const Record>, without a key "
      "of window and span, which returns a value, a std::optional or a std::vector of values");
  if constexpr (kFits) {
    ExpectDescribedTexts<ProcessValue<Function, K, Window, R>>();
  }
  return kFits;
}

/// `Origin` is a TimedOrigin, where all records of a key are on one executor. `W` is CountWindow or a Transaction.
template <typename Origin, typename R, typename Key, typename W>
class OrderedWindowedStream : public NamedStream {
 public:
  GLAIVE_USES_NAMED(Aggregate, )
  GLAIVE_USES_NAMED(Process, )

  using Record = R;
  using K = std::remove_cvref_t<std::invoke_result_t<const Key&, const R&>>;

  OrderedWindowedStream(Origin origin, Key key, W window)
      : origin_(std::move(origin)), key_(std::move(key)), window_(std::move(window)) {}

  /// What is computed of the records of each key and window.
  template <typename A>
  auto Aggregate(const A& aggregate) && {
    constexpr bool kDistinct = kDistincts<A> > 0;
    constexpr bool kIsRefused = std::is_base_of_v<RefusedAggregate, A>;
    constexpr bool kReads = [] {
      if constexpr (kIsRefused) {
        return false;
      } else {
        return ExpectReadable<A, R>();
      }
    }();
    static_assert(!kDistinct,
                  "glaive: Distinct{} is not for CountWindow or Transaction, only for windows that all keys share; "
                  "Process() sees all records of a window");
    constexpr bool kIsAggregate = [] {
      if constexpr (kDistinct || !kReads) {
        return false;
      } else {
        return AggregateOf<A, R>;
      }
    }();
    static_assert(kIsAggregate || kIsRefused || kDistinct || !kReads,
                  "glaive: Aggregate() takes an aggregate of the stream's records, such as Count{}");
    if constexpr (kIsAggregate) {
      return std::move(*this).With(AggregateOfWindow<A, R>{aggregate});
    } else {
      return WrongOrder{};
    }
  }

  /// What `function(key, window, records)` makes of each window: one row, or none or one in a std::optional, or those
  /// in a range such as a std::vector. `window` is a NumberedWindow, `records` a std::span of all records of the window
  /// in the order in which they came. Without a key it is `function(window, records)`. It is called in one piece, so a
  /// window of very many records delays others.
  template <typename Function>
  auto Process(Function function) && {
    if constexpr (ExpectProcessFunction<Function, K, NumberedWindow, R>()) {
      return std::move(*this).With(FunctionOfWindow<Function, K, NumberedWindow, R>{std::move(function)});
    } else {
      return WrongOrder{};
    }
  }

  GLAIVE_GENERIC_STEPS_BEFORE_KEYS(GLAIVE_WRONG_STREAM_STEP,
                                   "comes before KeyBy(); after Window() comes Aggregate(...) or Process(...)")
  GLAIVE_OTHER_STEPS_BEFORE_KEYS(GLAIVE_WRONG_STREAM_STEP,
                                 "comes before KeyBy(); after Window() comes Aggregate(...) or Process(...)")
  GLAIVE_STEPS_WITH_STATE(GLAIVE_WRONG_STREAM_STEP,
                          "comes before Window(); after Window() comes Aggregate(...) or Process(...)")
  GLAIVE_WRONG_ORDER(AllowedLateness,
                     "glaive: AllowedLateness() is for windows of event time; by order no record is late")
  GLAIVE_WRONG_ORDER(LateTo, "glaive: LateTo() is for windows of event time; by order no record is late")
  GLAIVE_WRONG_STREAM_STEP(JoinTable, "comes before KeyBy(); after Window() comes Aggregate(...) or Process(...)")
  GLAIVE_WRONG_STREAM_STEP(Partition, "comes before Window(); after Window() comes Aggregate(...) or Process(...)")
  GLAIVE_WRONG_STREAM_STEP(Unkey, "comes before Window(); after Window() comes Aggregate(...) or Process(...)")
  GLAIVE_WRONG_STREAM_STEP(DropKey, "comes before Window(); after Window() comes Aggregate(...) or Process(...)")
  GLAIVE_WRONG_ORDER(KeyBy, "glaive: KeyBy() comes once, before Window(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(Window, "glaive: a stream has one Window(); after it comes Aggregate(...) or Process(...)")
  GLAIVE_WRONG_ORDER(To, "glaive: To() needs results: call Aggregate(...) or Process(...) after Window()")

 private:
  /// The stream of the windows' results.
  template <typename Contents>
  auto With(Contents contents) && {
    using Windows = decltype(MakeOrderedWindows(std::declval<W>()));
    using Plan = OrderedWindowPlan<R, Key, Windows, Contents, Origin::kFromSource>;
    return StreamOf</*kFromSource=*/false, Origin::kHasTime, typename Plan::Row>(
        std::make_shared<const OrderedWindowVertex<Origin, Plan>>(
            std::move(origin_), Plan{.key = std::move(key_),
                                     .windows = MakeOrderedWindows(std::move(window_)),
                                     .contents = std::move(contents)}));
  }

  Origin origin_;
  Key key_;
  W window_;
};

}  // namespace glaive::engine

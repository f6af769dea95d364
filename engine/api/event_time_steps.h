// The steps of a stream that give event times to its records, take them away, show them or go by them. No record moves.
//
//   From(source).WithEventTime(&Click::time_ms, absl::Seconds(5)).KeyBy(...).Window(...)
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/time/time.h"

#include "engine/api/functions.h"
#include "engine/api/timed_stream.h"
#include "engine/api/wrong_order.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/event_times.h"
#include "engine/graph/no_event_times.h"
#include "engine/graph/processing_times.h"
#include "engine/graph/reorder.h"
#include "engine/steps/steps.h"
#include "engine/window/window_spec.h"

namespace glaive::engine {

/// What a Stream<Origin, Chain> inherits.
template <typename StreamT, typename Origin, Step Chain>
class EventTimeSteps {
 public:
  /// Gives each record the event time `time(record)`, ms since 1970, whatever it had before. The watermark of an
  /// executor is the latest time among its records, less `out_of_orderness`: a record that is later than that may be
  /// late for its window. Whole milliseconds, not negative, else the process ends with a message.
  template <typename Time>
  auto WithEventTime(Time time, absl::Duration out_of_orderness = absl::ZeroDuration()) && {
    ExpectPlainData<R>();
    if constexpr (ExpectTimeOf<R, Time>()) {
      return StreamOf</*kFromSource=*/true, /*kHasTime=*/true, R>(
          std::make_shared<const EventTimeVertex<Origin, Chain, Time>>(
              std::move(Self().origin_), std::move(Self().chain_), std::move(time), WholeLateness(out_of_orderness)));
    } else {
      return WrongOrder{};
    }
  }

  /// Gives each record the time at which it is taken in here as its event time, whatever it had before: the wall clock
  /// of the executor's host. Time goes on without records, a step of 10 ms at least, so windows close on a silent
  /// stream, and no record is late. Two runs over one input give different results.
  auto WithProcessingTime() && {
    ExpectPlainData<R>();
    return StreamOf</*kFromSource=*/true, /*kHasTime=*/true, R>(
        std::make_shared<const ProcessingTimeVertex<Origin, Chain>>(std::move(Self().origin_),
                                                                    std::move(Self().chain_)));
  }

  /// Takes the event times away: behind it come no windows of event time before another WithEventTime(), and no
  /// executor waits for others that are behind in time.
  auto WithoutEventTime() && {
    ExpectPlainData<R>();
    return StreamOf<Origin::kFromSource, /*kHasTime=*/false, R>(
        std::make_shared<const NoEventTimeVertex<Origin, Chain>>(std::move(Self().origin_), std::move(Self().chain_)));
  }

  /// As Map, but `function(record, event_time_ms)` takes the record's event time, too, ms since 1970: behind
  /// WithProcessingTime() the time at which the record was taken in.
  template <typename Function>
  auto MapWithTime(Function function) && {
    static_assert(Origin::kHasTime,
                  "glaive: MapWithTime() needs a stream with event times: say them before, by WithEventTime(...) or "
                  "WithProcessingTime()");
    if constexpr (Origin::kHasTime && ExpectValueOf<R, Function, std::int64_t>()) {
      auto origin = OriginOf<Origin::kFromSource, Origin::kHasTime, R>(Self().Timed());
      return Stream<decltype(origin), SourceStep<TimedRecord<R>>>(std::move(origin), {})
          .Map([function = std::move(function)](const TimedRecord<R>& timed) {
            return std::invoke(function, timed.record, timed.event_time_ms);
          });
    } else {
      return WrongOrder{};
    }
  }

  /// Puts the records of each executor in the order of their event times: a record waits until the watermark has come
  /// as far. The records of two executors are in any order; KeyBy(key).Reorder() orders those of each key. Late records
  /// go on as they come.
  auto Reorder() && {
    static_assert(Origin::kHasTime, "glaive: Reorder() needs event times: call WithEventTime(time) first");
    auto timed = OriginOf<Origin::kFromSource, Origin::kHasTime, R>(Self().Timed());
    return StreamOf<Origin::kFromSource, Origin::kHasTime, R>(
        std::make_shared<const ReorderVertex<decltype(timed), R>>(std::move(timed)));
  }

 private:
  friend StreamT;
  EventTimeSteps() = default;

  using R = typename Chain::Out;

  StreamT&& Self() { return static_cast<StreamT&&>(*this); }
};

}  // namespace glaive::engine

// Replay and Iterate: loops, which repeat a part of a query, their body.
//
//   auto centers = Replay(
//       From(points), {.most_iterations = 50}, Centers{...},
//       [](auto stream, const LoopState<Centers>& centers) {                        the body
//         return centers.Map(std::move(stream), &NearestCenter);
//       },
//       FoldAssoc(Sums{}, &AddPoint, &AddSums),                                     of all records of an iteration
//       [](Centers& now, const Sums& sums) { return MoveTo(now, sums) > 1e-9; });   after each iteration
//   std::move(centers).To(Csv{"centers.csv"});                                      one row: the last state
//
//   auto [state, records] = Iterate(...);                                           and the last iteration's records
//
// A loop stores the records of its input until the input ends. With Replay, the body gets these records in each
// iteration. With Iterate, it gets them in the first iteration, and later the records that it made in the iteration
// before. After an iteration, an aggregate of all records that the body made is merged. A function adds its value to
// the loop's state, and says whether another iteration follows. Steps of the body read the state. An executor begins an
// iteration when all executors have finished the one before.
//
// Iterations are numbered from 0, and these numbers are the event times in the body. EachIteration() is the window of
// one iteration, so windowed aggregates and joins in the body have results of each iteration. The body is made of the
// stream that it gets alone. It may have a loop in it, which runs to its end in each iteration of the outer one.
//
// If the input has event times, the results have event time 0, or in the body of another loop the number of its
// iteration.
//
// What moves: of the aggregate one change an executor and iteration, and the state, to each executor. Records of the
// input stay where they are, unless the body moves them. They are in the executors' state, and count against its
// budget; where they do not fit, the run ends with a message. After each iteration, each executor sends each other one
// a message for the aggregate and for each stage of the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"

#include "engine/api/as_stream.h"
#include "engine/api/functions.h"
#include "engine/api/stream.h"
#include "engine/api/timed_stream.h"
#include "engine/api/wrong_order.h"
#include "engine/graph/loop.h"
#include "engine/graph/loop_end.h"
#include "engine/graph/loop_head.h"
#include "engine/graph/loop_leader.h"
#include "engine/graph/loop_step.h"
#include "engine/graph/vertex.h"
#include "engine/steps/aggregates.h"
#include "engine/steps/stateful.h"
#include "engine/window/window_spec.h"
#include "rdma/base/check.h"
#include "state/record/record.h"

namespace glaive::engine {

/// The window of one iteration, in the body of a loop.
inline Tumbling EachIteration() { return {absl::Milliseconds(1)}; }

struct LoopLimits {
  /// The loop ends after so many. At least 1, else the process ends with a message.
  std::uint64_t most_iterations = 1'000;
};

/// The state of a loop, for steps of its body: functions of a record and the state, const State&. It is the same in a
/// whole iteration, on all executors. No record moves.
template <typename State>
class LoopState {
 public:
  /// `head` is that of the loop.
  explicit LoopState(std::shared_ptr<const Vertex> head) : head_(std::move(head)) {}

  /// Replaces every record of `stream` by what `function(record, state)` makes of it.
  template <typename S, typename Function>
  auto Map(S stream, Function function) const {
    if constexpr (ExpectStepOf<S, Function>()) {
      using Out = ReturnedFor<Function, typename S::Record, const State&>;
      return Expand<Out>(std::move(stream), OneWithState<RecordFirst<Function>>{{std::move(function)}});
    } else {
      return WrongOrder{};
    }
  }

  /// Selects the records for which `predicate(record, state)` holds.
  template <typename S, typename Predicate>
  auto Filter(S stream, Predicate predicate) const {
    if constexpr (ExpectStepOf<S, Predicate>()) {
      return Expand<typename S::Record>(std::move(stream), SelectedWithState<Predicate>{std::move(predicate)});
    } else {
      return WrongOrder{};
    }
  }

  /// Replaces every record by those in the range that `function(record, state)` makes of it.
  template <typename S, typename Function>
  auto FlatMap(S stream, Function function) const {
    if constexpr (ExpectStepOf<S, Function>()) {
      using Range = std::invoke_result_t<const Function&, const typename S::Record&, const State&>;
      constexpr bool kReturnsRange = std::ranges::input_range<Range>;
      static_assert(kReturnsRange, "glaive: FlatMap() takes a function that returns a range, such as a std::vector");
      if constexpr (kReturnsRange) {
        ExpectSmallRange<Range>();
        return Expand<std::ranges::range_value_t<Range>>(std::move(stream),
                                                         EachWithState<RecordFirst<Function>>{{std::move(function)}});
      } else {
        return WrongOrder{};
      }
    } else {
      return WrongOrder{};
    }
  }

 private:
  template <typename S, typename Function>
  static constexpr bool ExpectStepOf() {
    static_assert(kIsStream<S> || kIsAnyRefused<S>,
                  "glaive: a step of a LoopState takes a stream of the loop's body, and a function of its records");
    if constexpr (kIsStream<S>) {
      return ExpectValueOf<typename S::Record, Function, const State&>();
    } else {
      return false;
    }
  }

  template <typename Out, typename S, typename StepOfLoop>
  auto Expand(S stream, StepOfLoop step) const {
    using R = typename S::Record;
    ExpectPlainData<Out>();
    auto origin = OriginOf<S::Origin::kFromSource, S::Origin::kHasTime, R>(std::move(stream).Timed());
    return StreamOf<S::Origin::kFromSource, S::Origin::kHasTime, Out>(
        std::make_shared<const LoopStepVertex<decltype(origin), R, State, StepOfLoop, Out>>(std::move(origin), head_,
                                                                                            std::move(step)));
  }

  std::shared_ptr<const Vertex> head_;
};

/// The results of Iterate: streams of the last state, one record, and of the records of the last iteration.
template <typename StateStream, typename RecordStream>
struct LoopResults {
  StateStream state;
  RecordStream records;
};

/// Takes the state out of a LoopOutcome, once for all executors.
struct StateOfOutcome {
  template <typename State>
  std::optional<State> operator()(const LoopOutcome<State>& outcome) const {
    return outcome.executor == 0 ? std::optional(outcome.state) : std::nullopt;
  }
};

/// What a loop does with its records after an iteration.
enum class LoopKind { kReplay, kIterate };

/// Of a state, and of an aggregate's value: copies of them lie on a fiber's small stack.
inline constexpr std::size_t kMostStateBytesOfLoop = 8192;

/// The stream of decisions at the end of each iteration of a loop whose body makes `records`.
template <typename B, typename State, typename A, typename Update>
auto Decisions(std::shared_ptr<const ProducerVertex<TimedRecord<B>>> records, const LoopLimits& limits,
               const State& initial, const A& aggregate, Update update) {
  constexpr bool kHasValueOfNone = kDistincts<A> == 0;
  static_assert(kHasValueOfNone,
                "glaive: the aggregate of a loop has no Distinct{}; KeyBy() and Count{} in the body count");
  auto iterations = StreamOf</*kFromSource=*/false, /*kHasTime=*/true, B>(std::move(records))
                        .Window(EachIteration())
                        .Aggregate(aggregate);
  if constexpr (std::is_same_v<decltype(iterations), WrongOrder> || !kHasValueOfNone) {
    return WrongOrder{};
  } else {
    using Row = typename decltype(iterations)::Record;
    constexpr bool kUpdates = std::is_invocable_r_v<bool, const Update&, State&, const decltype(Row::value)&>;
    static_assert(kUpdates,
                  "glaive: the last function of a loop takes its state, State&, and the aggregate of an iteration, and "
                  "returns whether another iteration follows");
    using Value = decltype(Row::value);
    constexpr bool kSmallValue = sizeof(Value) <= kMostStateBytesOfLoop && !kHasText<Value>;
    static_assert(kSmallValue, "glaive: the aggregate of a loop has at most 8,192 bytes, and no Text");
    if constexpr (kUpdates && kSmallValue) {
      auto results = std::move(iterations).TakeOrigin();
      using Vertex = LoopLeaderVertex<decltype(results), Row, State, Update>;
      using Options = typename Vertex::Leader::Options;
      return StreamOf</*kFromSource=*/false, /*kHasTime=*/true, LoopDecision<State>>(
          std::make_shared<const Vertex>(std::move(results),
                                         Options{.initial = initial,
                                                 .of_no_records = typename A::template Value<B>{}.Result(),
                                                 .most_iterations = limits.most_iterations},
                                         std::move(update)));
    } else {
      return WrongOrder{};
    }
  }
}

/// Whether a loop can do with a state, with the stream that its body makes, and whether it feeds that one back.
template <LoopKind kKind, typename R, typename State, typename Made>
constexpr bool ExpectLoopOf() {
  constexpr bool kPlainState = std::is_trivially_copyable_v<State> && !kHasText<State> && !kHidesText<State>;
  static_assert(kPlainState, "glaive: the state of a loop is plain data without Text: numbers, and arrays of them");
  constexpr bool kSmallState = sizeof(State) <= kMostStateBytesOfLoop;
  static_assert(kSmallState,
                "glaive: the state of a loop has at most 8,192 bytes, since copies lie on a fiber's small stack");
  static_assert(kIsStream<Made> || kIsAnyRefused<Made>,
                "glaive: the body of a loop is a function of a stream and a LoopState that returns a stream");
  if constexpr (kIsStream<Made>) {
    using Body = decltype(AsStream(std::declval<Made>()));
    constexpr bool kHasTime = Body::Origin::kHasTime;
    static_assert(
        kHasTime,
        "glaive: event times in the body of a loop are the numbers of its iterations: no WithoutEventTime() there, "
        "and a Window(EachIteration()) before Aggregate()");
    constexpr bool kSameRecord = kKind == LoopKind::kReplay || std::is_same_v<typename Body::Record, R>;
    static_assert(kSameRecord, "glaive: the body of Iterate() makes records of the type that it takes");
    return kPlainState && kSmallState && kHasTime && kSameRecord;
  } else {
    return false;
  }
}

template <LoopKind kKind, typename S, typename State, typename Body, typename A, typename Update>
auto MakeLoop(S stream, const LoopLimits& limits, const State& initial, const Body& body, const A& aggregate,
              Update update) {
  using R = typename S::Record;
  using Records = ProducerVertex<TimedRecord<R>>;
  constexpr bool kIterates = kKind == LoopKind::kIterate;
  constexpr bool kHasTime = S::Origin::kHasTime;
  GLAIVE_CHECK(limits.most_iterations > 0, "a loop has .most_iterations = 0; it has one iteration at least");
  auto input = OriginOf<S::Origin::kFromSource, kHasTime, R>(std::move(stream).Timed());
  const std::shared_ptr<const Records> head =
      std::make_shared<const LoopHeadVertex<decltype(input), Untimed<R>, State>>(std::move(input), Untimed<R>{},
                                                                                 initial, kIterates);
  auto made = body(StreamOf</*kFromSource=*/false, /*kHasTime=*/true, R>(head), LoopState<State>(head));
  if constexpr (ExpectLoopOf<kKind, R, State, decltype(made)>()) {
    const auto records = AsStream(std::move(made)).Timed();
    auto decisions = Decisions(records, limits, initial, aggregate, std::move(update));
    if constexpr (kIsStream<decltype(decisions)>) {
      auto to_all = OriginOf</*kFromSource=*/false, /*kHasTime=*/true, LoopDecision<State>>(
          std::move(decisions).Broadcast().Timed());
      std::shared_ptr<const Records> fed_back;
      if constexpr (kIterates) {
        fed_back = records;
      }
      auto outcome = OriginOf</*kFromSource=*/false, kHasTime, LoopOutcome<State>>(
          std::make_shared<const LoopEndVertex<decltype(to_all), State, R>>(std::move(to_all), head,
                                                                            std::move(fed_back)));
      auto state = StreamOf(outcome).FilterMap(StateOfOutcome{});
      if constexpr (kIterates) {
        auto last = std::make_shared<const LoopRecordsVertex<decltype(outcome), State, R>>(std::move(outcome), head);
        return LoopResults{std::move(state), StreamOf</*kFromSource=*/false, kHasTime, R>(std::move(last))};
      } else {
        return state;
      }
    } else {
      return WrongOrder{};
    }
  } else {
    return WrongOrder{};
  }
}

/// See the head of this file. `body(stream, state)` makes a stream of the loop's records, of any type. `aggregate` is
/// one of them, as for Aggregate(), and `update(state, value)` adds its value to the state, State&, on one executor. It
/// returns whether another iteration follows. A stream of one record, the last state.
template <typename S, typename State, typename Body, typename A, typename Update>
auto Replay(S stream, const LoopLimits& limits, const State& initial, const Body& body, const A& aggregate,
            Update update) {
  return MakeLoop<LoopKind::kReplay>(AsStream(std::move(stream)), limits, initial, body, aggregate, std::move(update));
}

/// As Replay, but the records that the body makes are those of the next iteration. They have the type of the input's
/// records. The results are a LoopResults.
template <typename S, typename State, typename Body, typename A, typename Update>
auto Iterate(S stream, const LoopLimits& limits, const State& initial, const Body& body, const A& aggregate,
             Update update) {
  auto results =
      MakeLoop<LoopKind::kIterate>(AsStream(std::move(stream)), limits, initial, body, aggregate, std::move(update));
  if constexpr (std::is_same_v<decltype(results), WrongOrder>) {
    return LoopResults{WrongOrder{}, WrongOrder{}};
  } else {
    return results;
  }
}

}  // namespace glaive::engine

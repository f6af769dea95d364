// KeyedStream: a stream behind KeyBy. It can be grouped by windows, aggregated as a whole, or go through steps with a
// state for each key. See stream.h.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"

#include "engine/api/named_stream.h"
#include "engine/api/ordered_windowed_stream.h"
#include "engine/api/origin.h"
#include "engine/api/stateful_steps.h"
#include "engine/api/timed_stream.h"
#include "engine/api/windowed_stream.h"
#include "engine/api/wrong_order.h"
#include "engine/exchange/routes.h"
#include "engine/graph/keyed_operator.h"
#include "engine/graph/processing_times.h"
#include "engine/graph/reorder.h"
#include "engine/sink/sink.h"
#include "engine/stage/stage_scope.h"
#include "engine/steps/fold.h"
#include "engine/steps/stateful.h"
#include "engine/steps/steps.h"
#include "engine/window/ordered_windows.h"
#include "engine/window/window_spec.h"
#include "rdma/base/check.h"
#include "state/record/record.h"

namespace glaive::engine {

/// A record with the key that it was grouped by.
template <typename K, typename R>
struct KeyedRecord {
  using Members = std::tuple<K, R>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("key", self.key);
    visit("record", self.record);
  }

  K key;
  R record;

  friend bool operator==(const KeyedRecord&, const KeyedRecord&) = default;
};

/// The stream behind an exchange that brings all records of a key to one executor.
template <typename Origin, Step Chain, typename Key, typename Route>
auto PartitionedStream(Origin origin, Chain chain, Key key, Route route);

/// After KeyBy. `kPartitioned`: all records of a key are on one executor already, behind an exchange.
template <typename Origin, typename Chain, typename Key, bool kPartitioned = false>
class KeyedStream : public StatefulSteps<KeyedStream<Origin, Chain, Key, kPartitioned>, typename Chain::Out>,
                    public NamedStream {
 public:
  GLAIVE_STEPS_WITH_STATE(GLAIVE_USES_NAMED, )
  GLAIVE_USES_NAMED(Partition, )
  GLAIVE_USES_NAMED(Unkey, )
  GLAIVE_USES_NAMED(DropKey, )
  GLAIVE_USES_NAMED(Window, )
  GLAIVE_USES_NAMED(Aggregate, )
  using StatefulSteps<KeyedStream, typename Chain::Out>::RichMap;
  using StatefulSteps<KeyedStream, typename Chain::Out>::RichFilterMap;
  using StatefulSteps<KeyedStream, typename Chain::Out>::RichFlatMap;

  using Record = typename Chain::Out;
  using K = std::remove_cvref_t<std::invoke_result_t<const Key&, const Record&>>;

  KeyedStream(Origin origin, Chain chain, Key key)
      : origin_(std::move(origin)), chain_(std::move(chain)), key_(std::move(key)) {}

  /// Groups each key's records by event time: Tumbling{size}, Sliding{size, slide} or Session{gap}, of at least 1 ms,
  /// or not at all: Unbounded{every}. Or by their order: CountWindow{size, slide} or Transaction(function)
  /// (engine/window/ordered_windows.h); then records move as by Partition(), without a key to executor 0. Records of
  /// a key that one executor has read are in their order, records of two executors in any order. ProcessingTime(window)
  /// is a window of the first kind, by the time at which records reach it: as behind WithProcessingTime().
  template <typename W>
  auto Window(const W& window) && {
    constexpr bool kByClock = kIsProcessingTimeWindow<W>;
    static_assert(kIsWindow<W> || kIsOrderedWindow<W> || kByClock,
                  "glaive: Window() takes Tumbling{size}, Sliding{size, slide}, Session{gap} or Unbounded{every}, or "
                  "by order CountWindow{size, slide} or Transaction(function)");
    constexpr bool kHasTime = Origin::kHasTime || std::is_same_v<W, Unbounded> || !kIsWindow<W>;
    static_assert(kHasTime,
                  "glaive: this stream has no event times to be grouped by, as results of Unbounded{} have none; "
                  "WithEventTime(time) gives them to it; or Aggregate() it without a window, or To() a sink");
    constexpr bool kReads = kReadsRecords<W, Record>;
    static_assert(kReads,
                  "glaive: Transaction() takes a function of a record, const Record&, which returns an InTransaction");
    if constexpr (std::is_same_v<W, Unbounded> && !Origin::kHasTime) {
      GLAIVE_CHECK(window.every == absl::InfiniteDuration(), "Unbounded{.every = ", absl::FormatDuration(window.every),
                   "} over a stream without event times; it has results at the end only");
    }
    if constexpr (kIsOrderedWindow<W> && kReads) {
      return std::move(*this).InOrder(window);
    } else if constexpr (kByClock) {
      ExpectPlainData<Record>();
      using Timed = TimedOrigin<Record, /*kFromSource=*/true, /*kHasTime=*/true>;
      auto timed = std::make_shared<const ProcessingTimeVertex<Origin, Chain>>(std::move(origin_), std::move(chain_));
      return KeyedStream<Timed, Untimed<Record>, Key, kPartitioned>(
                 OriginOf</*kFromSource=*/true, /*kHasTime=*/true, Record>(std::move(timed)), {}, std::move(key_))
          .Window(window.window);
    } else if constexpr (kIsWindow<W> && kHasTime) {
      return WindowedStream<Origin, Chain, Key, W>(std::move(origin_), std::move(chain_), std::move(key_), window,
                                                   kPartitioned ? StageScope::kOwnExecutor : StageScope::kAllExecutors);
    } else {
      return WrongOrder{};
    }
  }

  /// Moves each record to the executor that leads its key, so that all records of a key are in one place. Windows and
  /// aggregates need no such move: they merge what each executor has of a key. Behind Partition() they merge nothing.
  auto Partition() && {
    if constexpr (kPartitioned) {
      return std::move(*this);
    } else {
      return PartitionedStream(std::move(origin_), std::move(chain_), key_, ByKey<Key>{key_});
    }
  }

  /// The state of a record's key behind each record: `function(state, record)` adds the record to a state, which begins
  /// as `initial`, by changing it or by returning the new one. Records move as by Partition(), so that the function
  /// need not commute. Records of a key that one executor has read are added in their order, records of two executors
  /// in any order. A row is a KeyedState, with its record's event time.
  template <typename State, typename Function>
  auto Scan(State initial, Function function) && {
    if constexpr (ExpectFoldFunction<Function, State, Record>()) {
      return std::move(*this).template ThroughStep<std::array<KeyedState<K, State>, 1>>(
          std::move(initial), RunningOfKey<Function, Key>{std::move(function), key_});
    } else {
      return WrongOrder{};
    }
  }

  /// The state of each key at the end of the stream, as Scan makes it: a row like those of Aggregate(...), but of any
  /// function. Records move as by Partition(). Where the function commutes, FoldAssoc moves no records.
  template <typename State, typename Function>
  auto Fold(State initial, Function function) && {
    if constexpr (ExpectFoldFunction<Function, State, Record>()) {
      return std::move(*this).template RowsAtTheEnd<State>(std::move(initial),
                                                           FoldedInOrder<Function>{std::move(function)});
    } else {
      return WrongOrder{};
    }
  }

  /// As Fold, also in what moves, but a key's state begins as its first record: `function(accumulated, record)`.
  template <typename Function>
  auto Reduce(Function function) && {
    if constexpr (ExpectReduceFunction<Function, Record>()) {
      return std::move(*this).template RowsAtTheEnd<Record>(std::optional<Record>(),
                                                            ReducedInOrder<Function>{std::move(function)});
    } else {
      return WrongOrder{};
    }
  }

  /// The first record of each key that reaches the key's leader. Records move as by Partition().
  auto Unique() && { return std::move(*this).RichFilterMap(false, FirstOfKey{}); }

  /// Puts the records of each key in the order of their event times, whichever executors have read them: a record waits
  /// until the watermark has come as far. Records move as by Partition(). Late records go on as they come.
  auto Reorder() && {
    static_assert(Origin::kHasTime, "glaive: Reorder() needs event times: call WithEventTime(time) before KeyBy()");
    if constexpr (kPartitioned) {
      auto ordered = std::make_shared<const ReorderVertex<Origin, Record>>(std::move(origin_));
      using Ordered = TimedOrigin<Record, Origin::kFromSource, Origin::kHasTime>;
      return KeyedStream<Ordered, Untimed<Record>, Key, /*kPartitioned=*/true>(
          OriginOf<Origin::kFromSource, Origin::kHasTime, Record>(std::move(ordered)), {}, std::move(key_));
    } else {
      return std::move(*this).Partition().Reorder();
    }
  }

  /// As Fold and Reduce, by functions that commute and associate (engine/steps/fold.h). What moves: as of Aggregate.
  template <typename A, typename Local, typename Global>
  auto FoldAssoc(const A& initial, Local local, Global global) && {
    return std::move(*this).Aggregate(engine::FoldAssoc(initial, std::move(local), std::move(global)));
  }
  template <typename Function>
  auto ReduceAssoc(Function function) && {
    return std::move(*this).Aggregate(engine::ReduceAssoc(std::move(function)));
  }

  /// One result for each key, of all its records, at the end of the stream: as
  /// Window(Unbounded{}).Aggregate(aggregate), also in what moves (windowed_stream.h).
  template <typename A>
  auto Aggregate(const A& aggregate) && {
    return std::move(*this).Window(Unbounded{}).Aggregate(aggregate);
  }

  /// The stream of the records, each with its key: no longer grouped. No record moves.
  auto Unkey() && {
    return Stream<Origin, Chain>(std::move(origin_), std::move(chain_))
        .Map([key = std::move(key_)](const Record& record) {
          return KeyedRecord<K, Record>{.key = std::invoke(key, record), .record = record};
        });
  }

  /// The stream of the records, no longer grouped. No record moves.
  auto DropKey() && { return Stream<Origin, Chain>(std::move(origin_), std::move(chain_)); }

  GLAIVE_GENERIC_STEPS_BEFORE_KEYS(
      GLAIVE_WRONG_STREAM_STEP,
      "comes before KeyBy(); after it comes Window(...), Aggregate(...), DropKey() or Unkey()")
  GLAIVE_OTHER_STEPS_BEFORE_KEYS(
      GLAIVE_WRONG_STREAM_STEP,
      "comes before KeyBy(); after it comes Window(...), Aggregate(...), DropKey() or Unkey()")
  GLAIVE_WRONG_STREAM_STEP(JoinTable,
                           "comes before KeyBy(); after it comes Window(...), Aggregate(...), DropKey() or Unkey()")
  GLAIVE_WRONG_ORDER(
      KeyBy,
      "glaive: a stream has one KeyBy(); after it comes Window(...) or Aggregate(...), or DropKey() before "
      "another KeyBy()")
  GLAIVE_WRONG_ORDER(AllowedLateness, "glaive: AllowedLateness() comes after Window()")
  GLAIVE_WRONG_ORDER(LateTo, "glaive: LateTo() comes after Window()")
  GLAIVE_WRONG_ORDER(Process, "glaive: Process() comes after Window()")
  GLAIVE_WRONG_ORDER(To,
                     "glaive: To() needs results: call Aggregate(...) after KeyBy(), maybe behind Window(...), or "
                     "DropKey() to write the records")

 private:
  friend class StatefulSteps<KeyedStream, Record>;
  template <typename, typename, typename, bool>
  friend class KeyedStream;

  /// See StatefulSteps.
  template <typename Range, typename State, typename StatefulStep>
  auto ThroughStep(State initial, StatefulStep step) && {
    using Out = std::ranges::range_value_t<Range>;
    ExpectPlainData<Out>();
    ExpectSmallRange<Range>();
    return std::move(*this).template Stateful<Out, Origin::kFromSource, Origin::kHasTime>(std::move(initial),
                                                                                          std::move(step));
  }

  /// See Window.
  template <typename W>
  auto InOrder(const W& window) && {
    if constexpr (kPartitioned) {
      return OrderedWindowedStream<Origin, Record, Key, W>(std::move(origin_), std::move(key_), window);
    } else if constexpr (std::is_same_v<K, AllRecords>) {
      return PartitionedStream(std::move(origin_), std::move(chain_), std::move(key_), InTurn{.executors = 1})
          .Window(window);
    } else {
      return std::move(*this).Partition().Window(window);
    }
  }

  template <typename Result, typename State, typename StatefulStep>
  auto RowsAtTheEnd(State initial, StatefulStep step) && {
    return std::move(*this).template Stateful<WindowResult<K, Result>, /*kFromSource=*/false, /*kHasTime=*/false>(
        std::move(initial), std::move(step));
  }

  /// The stream of what a step makes of states that lie where all records of their keys are.
  template <typename Out, bool kFromSource, bool kHasTime, typename State, typename StatefulStep>
  auto Stateful(State initial, StatefulStep step) && {
    ExpectTextsToOwn<State>();
    constexpr std::size_t kMostBytes = 4096;
    constexpr bool kIsPlain = std::is_trivially_copyable_v<State>;
    constexpr bool kIsSmall = !kIsPlain || sizeof(KeyedState<K, State>) <= kMostBytes;
    static_assert(kIsPlain,
                  "glaive: the state of a key is plain data: no std::string, no containers, no other owner of memory; "
                  "nor a std::pair or std::tuple: write a struct");
    static_assert(kIsSmall, "glaive: the state of a key has at most 4096 bytes, those of the key included");
    if constexpr (!kIsPlain || !kIsSmall) {
      return WrongOrder{};
    } else if constexpr (!kPartitioned) {
      return std::move(*this).Partition().template Stateful<Out, kFromSource, kHasTime>(std::move(initial),
                                                                                        std::move(step));
    } else {
      using Plan = KeyedPlan<Record, Key, State, StatefulStep, Origin::kFromSource>;
      return StreamOf<kFromSource, kHasTime, Out>(std::make_shared<const KeyedVertex<Origin, Plan, Out>>(
          std::move(origin_), Plan{.key = std::move(key_), .initial = std::move(initial), .step = std::move(step)}));
    }
  }

  Origin origin_;
  Chain chain_;
  Key key_;
};

template <typename Origin, Step Chain, typename Key, typename Route>
auto PartitionedStream(Origin origin, Chain chain, Key key, Route route) {
  using Moved = TimedOrigin<typename Chain::Out, Origin::kFromSource, Origin::kHasTime>;
  return KeyedStream<Moved, Untimed<typename Chain::Out>, Key, /*kPartitioned=*/true>(
      Exchanged(std::move(origin), std::move(chain), std::move(route)), {}, std::move(key));
}

/// What stands for KeyBy where a query has none.
struct OneKeyForAll {
  template <typename R>
  AllRecords operator()(const R&) const {
    return {};
  }
};

}  // namespace glaive::engine

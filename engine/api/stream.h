// The query API: a query is written step by step. Each step returns a type that has the steps that may come next.
//
//   From(source)              Stream          Filter, Map, FlatMap, Inspect, JoinTable, Route, WithEventTime and so on,
//                                             then KeyBy, or Window at once, or To; several streams become one by
//                                             api/join.h and api/union.h
//     .KeyBy(key)             KeyedStream     Window, or Aggregate of the whole stream; RichMap, Scan, Fold and so on
//                                             with a state for each key
//     .Window(Tumbling{...})  WindowedStream  AllowedLateness, LateTo, then Aggregate or Process
//     .Window(CountWindow{})  OrderedWindowedStream: Aggregate or Process; likewise behind Transaction(...)
//     .Aggregate(Count{})     Stream          of the results: all of the above
//     .To(sink)               std::unique_ptr<GraphQuery>, which is a Query; several are united by api/together.h
//
// Stateless steps that make at most one record of each fuse with the window behind them into one loop at compile time.
// The results of a window are a stream again, with the windows' last milliseconds as event times: they can be mapped,
// and grouped and aggregated again. A step that comes too early or too late does not compile, and the message says what
// to write instead.
//
//   std::unique_ptr<Query> query = From(source)
//       .Filter([](const Event& e) { return e.type == EventType::kView; })
//       .Map([](const Event& e) { return View{e.ad, e.user}; })
//       .KeyBy(&View::ad)
//       .Window(Tumbling{absl::Minutes(10)})
//       .Aggregate(Count{})
//       .To(Csv{"views.csv"});
//
// What moves: nothing but what a step's comment says. Up to a stage, an exchange or a sink, a record stays on the
// executor that reads it.
//
// The executors of a process share the functions of a query, which run on several threads at a time. So these must be
// pure, look things up in constant tables, or, as counters and traces may, use atomics or locks of their own.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/time/time.h"

#include "engine/api/event_time_steps.h"
#include "engine/api/functions.h"
#include "engine/api/keyed_stream.h"
#include "engine/api/named_stream.h"
#include "engine/api/origin.h"
#include "engine/api/stateful_steps.h"
#include "engine/api/static_table.h"
#include "engine/api/timed_stream.h"
#include "engine/api/windowed_stream.h"
#include "engine/api/wrong_order.h"
#include "engine/exchange/routes.h"
#include "engine/executor/query.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/flat_map.h"
#include "engine/graph/graph_query.h"
#include "engine/graph/sink_writer.h"
#include "engine/ingest/source_vertex.h"
#include "engine/sink/collect.h"
#include "engine/steps/expansions.h"
#include "engine/steps/fold.h"
#include "engine/steps/stateful.h"
#include "engine/steps/steps.h"
#include "engine/window/window_spec.h"
#include "rdma/base/check.h"

namespace glaive::engine {

/// A stream of records of type `Chain::Out`. A value: a copy is the same stream, whose source is read once for both.
template <typename OriginT, Step Chain>
class Stream : public StatefulSteps<Stream<OriginT, Chain>, typename Chain::Out>,
               public EventTimeSteps<Stream<OriginT, Chain>, OriginT, Chain>,
               public NamedStream {
 public:
  GLAIVE_GENERIC_STEPS_BEFORE_KEYS(GLAIVE_USES_NAMED, )
  GLAIVE_STEPS_WITH_STATE(GLAIVE_USES_NAMED, )
  GLAIVE_USES_NAMED(JoinTable, )
  GLAIVE_USES_NAMED(KeyBy, )
  GLAIVE_USES_NAMED(Window, )
  GLAIVE_USES_NAMED(Aggregate, )
  GLAIVE_USES_NAMED(To, )
  using StatefulSteps<Stream, typename Chain::Out>::RichMap;
  using StatefulSteps<Stream, typename Chain::Out>::RichFilterMap;
  using StatefulSteps<Stream, typename Chain::Out>::RichFlatMap;
  using EventTimeSteps<Stream, OriginT, Chain>::WithEventTime;
  using EventTimeSteps<Stream, OriginT, Chain>::WithProcessingTime;
  using EventTimeSteps<Stream, OriginT, Chain>::WithoutEventTime;
  using EventTimeSteps<Stream, OriginT, Chain>::MapWithTime;
  using EventTimeSteps<Stream, OriginT, Chain>::Reorder;

  using Origin = OriginT;
  using Record = typename Chain::Out;

  Stream(Origin origin, Chain chain) : origin_(std::move(origin)), chain_(std::move(chain)) {}

  /// Selects the records for which `predicate` holds.
  template <typename Predicate>
  auto Filter(Predicate predicate) && {
    if constexpr (ExpectPredicateOf<Record, Predicate>()) {
      return Then(FilterStep<Chain, Predicate>{std::move(chain_), std::move(predicate)});
    } else {
      return WrongOrder{};
    }
  }

  /// Replaces every record by what `function` makes of it; its event time stays.
  template <typename Function>
  auto Map(Function function) && {
    if constexpr (ExpectValueOf<Record, Function>()) {
      return Then(MapStep<Chain, Function>{std::move(chain_), std::move(function)});
    } else {
      return WrongOrder{};
    }
  }

  /// Map and Filter in one: `function` returns an optional, and records without a value are dropped.
  template <typename Function>
  auto FilterMap(Function function) && {
    if constexpr (ExpectOptionalOf<Record, Function>()) {
      return Then(FilterMapStep<Chain, Function>{std::move(chain_), std::move(function)});
    } else {
      return WrongOrder{};
    }
  }

  /// Replaces every record by those in the range that `function` makes of it, a vector, a small array or a view, in
  /// their order and with its event time. No record moves. The fiber may yield while the range is read, so a view must
  /// not refer to what another call of the function overwrites.
  template <typename Function>
  auto FlatMap(Function function) && {
    if constexpr (ExpectRangeOf<Record, Function>()) {
      return std::move(*this).template Expand<std::invoke_result_t<const Function&, const Record&>>(
          EachOf<Function>{std::move(function)});
    } else {
      return WrongOrder{};
    }
  }

  /// Replaces every record, which is a range such as a std::array, by its elements. No record moves.
  auto Flatten() && {
    constexpr bool kIsRange = std::ranges::input_range<const Record&>;
    static_assert(kIsRange,
                  "glaive: Flatten() is for records that are ranges, such as a std::array; FlatMap(function) "
                  "makes a range of a record");
    if constexpr (kIsRange) {
      return std::move(*this).FlatMap(std::identity());
    } else {
      return WrongOrder{};
    }
  }

  // RichMap, RichFilterMap and RichFlatMap (stateful_steps.h): each executor has a state of its own, so results depend
  // on which executor reads which records. Behind KeyBy each key has one.

  /// The state of all records behind each record: `function(state, record)` adds the record to a state, which begins as
  /// `initial`, by changing it or by returning the new one. All records move to executor 0, so that the function need
  /// not commute. Records that one executor has read are added in their order, records of two executors in any order.
  template <typename State, typename Function>
  auto Scan(State initial, Function function) && {
    if constexpr (ExpectFoldFunction<Function, State, Record>()) {
      return std::move(*this).OnExecutors(1).template ThroughStep<std::array<State, 1>>(
          std::move(initial), Running<Function>{std::move(function)});
    } else {
      return WrongOrder{};
    }
  }

  /// The state of all records at the end of the stream, as Scan makes it: one row like that of Aggregate(...), or none
  /// of an empty stream. All records move to executor 0. Where the function commutes, FoldAssoc moves no records.
  template <typename State, typename Function>
  auto Fold(State initial, Function function) && {
    return std::move(*this).AtOneExecutor().Fold(std::move(initial), std::move(function));
  }

  /// As Fold, also in what moves, but the state begins as the first record: `function(accumulated, record)`.
  template <typename Function>
  auto Reduce(Function function) && {
    return std::move(*this).AtOneExecutor().Reduce(std::move(function));
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

  /// Calls `function` with every record, once, and passes the record on: for counters and traces. Copies of the stream
  /// call it each for themselves. No record moves. The executors of a process call it at the same time. Its result is
  /// ignored.
  template <typename Function>
  auto Inspect(Function function) && {
    if constexpr (ExpectFunctionOf<Record, Function>()) {
      return Then(InspectStep<Chain, Function>{std::move(chain_), std::move(function)});
    } else {
      return WrongOrder{};
    }
  }

  /// Runs the steps before it once, for all copies of the stream: without it, each copy runs them for itself. No record
  /// moves, and none is stored beyond its batch: copies of a stream are read side by side.
  auto Cache() && {
    ExpectPlainData<Record>();
    if constexpr (std::is_same_v<Chain, SourceStep<Record>> || std::is_same_v<Chain, Untimed<Record>>) {
      return std::move(*this);
    } else {
      return StreamOf<Origin::kFromSource, Origin::kHasTime, Record>(
          std::make_shared<const FlatMapVertex<Origin, Chain, ForAllCopies, Record>>(
              std::move(origin_), std::move(chain_), ForAllCopies{}));
    }
  }

  /// Joins each record with the table's entry under its key, `key(record)`: the stream is then of what
  /// `combine(record, value)` makes of both. Records whose key the table doesn't have are dropped. No record moves,
  /// since each node has the table.
  template <typename K, typename V, typename Key, typename Combine>
  auto JoinTable(std::shared_ptr<const StaticTable<K, V>> table, Key key, Combine combine) && {
    if constexpr (ExpectTableKeyOf<Record, Key, K>() && ExpectValueOf<Record, Combine, const V&>()) {
      using Joined = ReturnedFor<Combine, Record, const V&>;
      origin_.tables.emplace(table.get(), table->size_bytes());
      return std::move(*this).FilterMap([table = std::move(table), key = std::move(key),
                                         combine = std::move(combine)](const Record& record) -> std::optional<Joined> {
        const V* value = table->Find(std::invoke(key, record));
        return value == nullptr ? std::nullopt : std::optional<Joined>(std::invoke(combine, record, *value));
      });
    } else {
      return WrongOrder{};
    }
  }

  /// A stream for each predicate, in a std::tuple: a record goes to each whose predicate holds. The source is read
  /// once. No record moves to another executor.
  template <typename... Predicates>
  auto Split(Predicates... predicates) const& {
    static_assert(sizeof...(Predicates) > 0, "glaive: Split() takes a predicate for each stream that it makes");
    return std::tuple(Stream(*this).Filter(std::move(predicates))...);
  }

  /// A stream for each predicate, in a std::tuple: a record goes to the first whose predicate holds, or is dropped. The
  /// source is read once. No record moves to another executor.
  template <typename... Predicates>
  auto Route(Predicates... predicates) const& {
    static_assert(sizeof...(Predicates) > 0, "glaive: Route() takes a predicate for each stream that it makes");
    if constexpr (sizeof...(Predicates) > 0 && (ExpectPredicateOf<Record, Predicates>() && ...)) {
      const auto all = std::make_shared<const std::tuple<Predicates...>>(std::move(predicates)...);
      return [&]<std::size_t... kBranch>(std::index_sequence<kBranch...>) {
        return std::tuple(
            Stream(*this).Filter([all](const Record& record) { return FirstThatHolds(*all, record) == kBranch; })...);
      }(std::index_sequence_for<Predicates...>());
    } else {
      return std::tuple((static_cast<void>(predicates), WrongOrder{})...);
    }
  }

  /// Spreads the records over all executors in turn, one each. Each executor gets the records of one other executor in
  /// their order. Moving records costs time, so it pays only if some executors read more than the others.
  auto Shuffle() && { return StreamOf(Exchanged(std::move(origin_), std::move(chain_), InTurn{})); }

  /// Copies each record to every executor. Behind it each executor has all of the stream.
  auto Broadcast() && { return StreamOf(Exchanged(std::move(origin_), std::move(chain_), ToAll{})); }

  /// Moves the records to the first `executors` of the run, in turn, one each: with 1, all to executor 0. At least 1,
  /// else the process ends with a message.
  auto OnExecutors(std::uint32_t executors) && {
    GLAIVE_CHECK(executors > 0, "OnExecutors(0): a stream needs an executor at least");
    return StreamOf(Exchanged(std::move(origin_), std::move(chain_), InTurn{.executors = executors}));
  }

  /// At most `count` records of the stream, all at executor 0: the first ones of each executor move there, and the
  /// first of these go on. Which ones they are depends on how fast executors read. Sources are read to their ends.
  auto Limit(std::uint64_t count) && {
    return std::move(*this)
        .RichFilterMap(std::uint64_t{0}, AtMost{count})
        .OnExecutors(1)
        .RichFilterMap(std::uint64_t{0}, AtMost{count});
  }

  /// Each different record once: the first one that reaches the leader of its value. Records move as by
  /// KeyBy(...).Partition(), whole, so a record has to be a key; KeyBy(key).Unique() compares a part.
  auto Unique() && {
    constexpr bool kIsKey = state::StateKey<Record>;
    static_assert(kIsKey || kHidesText<Record>,
                  "glaive: Unique() compares whole records: without padding, pointers or floating-point numbers, and "
                  "with an operator==; KeyBy(key).Unique() compares a part of them");
    if constexpr (kIsKey) {
      return std::move(*this).KeyBy(std::identity()).Unique();
    } else {
      return WrongOrder{};
    }
  }

  /// Says what records are grouped by: a callable or a member pointer. No record moves. Executors send the changes of a
  /// key's state to the key's leader, unless Partition() follows. The key is hashed and sent as its bytes, so its type
  /// has no padding and no pointers; rdma/base/plain_data.h says which the compiler cannot see.
  template <typename Key>
  auto KeyBy(Key key) && {
    if constexpr (ExpectKeyOf<Record, Key>()) {
      return KeyedStream<Origin, Chain, Key>(std::move(origin_), std::move(chain_), std::move(key));
    } else {
      return WrongOrder{};
    }
  }

  /// Groups all records by event time or by their order, as KeyedStream::Window does those of each key: one result a
  /// window, over all flows, whose key is AllRecords.
  template <typename W>
  auto Window(const W& window) && {
    return KeyedStream<Origin, Chain, OneKeyForAll>(std::move(origin_), std::move(chain_), {}).Window(window);
  }

  /// One result of all records, at the end of the stream: as Window(Unbounded{}).Aggregate(aggregate). No record moves
  /// as such: each executor folds its own, and the leader of AllRecords merges their values. If values have texts, an
  /// executor sends what the aggregate reads of each record (WindowedStream::Aggregate).
  template <typename A>
  auto Aggregate(const A& aggregate) && {
    return std::move(*this).Window(Unbounded{}).Aggregate(aggregate);
  }

  /// Ends the stream in a sink: Csv, Collect, ForEach, Discard, AllOf, or your own (engine/sink/sink.h). Records move
  /// to no other executor: each writes the results of windows that it leads or, without a window, what it makes of the
  /// records that it reads, in their order. Only for CollectAll are they copied to all executors.
  template <typename S>
  std::unique_ptr<GraphQuery> To(const S& sink) && {
    constexpr bool kIsSink = kIsCollectAll<S> || SinkSpecFor<S, Record>;
    static_assert(kIsSink, "glaive: To() takes a sink for this query's rows, such as Csv{path} or Discard{}");
    if constexpr (kIsCollectAll<S>) {
      return std::move(*this).Broadcast().To(sink.each);
    } else if constexpr (kIsSink) {
      return std::make_unique<GraphQuery>(
          std::vector<std::shared_ptr<const Vertex>>{std::make_shared<const SinkVertex<Origin, Chain>>(
              std::move(origin_), std::move(chain_), sink.template Factory<Record>())});
    } else {
      return nullptr;
    }
  }

  // Of a named stream. Their arguments are converted, so NamedStream does not have these two.
  template <typename... None>
  WrongOrder OnExecutors(std::uint32_t /*executors*/) const& {
    return OfNamedStream<None...>();
  }
  template <typename... None>
  WrongOrder Limit(std::uint64_t /*count*/) const& {
    return OfNamedStream<None...>();
  }

  GLAIVE_WRONG_ORDER(Partition, "glaive: Partition() comes after KeyBy(), which says by what")
  GLAIVE_WRONG_ORDER(Unkey, "glaive: Unkey() comes after KeyBy(), whose key it gives to each record")
  GLAIVE_WRONG_ORDER(DropKey, "glaive: DropKey() comes after KeyBy(), which it takes back")
  GLAIVE_WRONG_ORDER(AllowedLateness, "glaive: AllowedLateness() comes after Window()")
  GLAIVE_WRONG_ORDER(LateTo, "glaive: LateTo() comes after Window()")
  GLAIVE_WRONG_ORDER(Process, "glaive: Process() comes after Window()")

  /// The origin of a stream without steps behind it: what operators of a stage's results take.
  Origin TakeOrigin() &&
    requires std::is_same_v<Chain, SourceStep<Record>>
  {
    return std::move(origin_);
  }

  /// The stream as a vertex whose records have their event times beside them: what operators of several streams take.
  std::shared_ptr<const ProducerVertex<TimedRecord<Record>>> Timed() && {
    ExpectPlainData<Record>();
    if constexpr (std::is_same_v<typename Origin::Record, TimedRecord<Record>> &&
                  std::is_same_v<Chain, Untimed<Record>>) {
      return std::move(origin_.vertex);
    } else {
      return std::make_shared<const FlatMapVertex<Origin, Chain, Itself, Record>>(std::move(origin_), std::move(chain_),
                                                                                  Itself{});
    }
  }

 private:
  template <typename, Step>
  friend class JoinInput;

  friend class StatefulSteps<Stream, Record>;
  friend class EventTimeSteps<Stream, Origin, Chain>;
  template <typename, Step>
  friend class Stream;

  template <typename Next>
  auto Then(Next next) {
    return Stream<Origin, Next>(std::move(origin_), std::move(next));
  }

  /// The stream of the records that `expansion` makes of each; Range: of which it makes them.
  template <typename Range, typename Expansion>
  auto Expand(Expansion expansion) && {
    using Out = std::ranges::range_value_t<Range>;
    ExpectPlainData<Out>();
    ExpectSmallRange<Range>();
    return StreamOf<Origin::kFromSource, Origin::kHasTime, Out>(
        std::make_shared<const FlatMapVertex<Origin, Chain, Expansion, Out>>(std::move(origin_), std::move(chain_),
                                                                             std::move(expansion)));
  }

  /// See StatefulSteps.
  template <typename Range, typename State, typename StatefulStep>
  auto ThroughStep(State initial, StatefulStep step) && {
    ExpectTextsToOwn<State>();
    return std::move(*this).template Expand<Range>(OwnState<State, StatefulStep>{std::move(initial), std::move(step)});
  }

  /// The stream with the key of all records, which are on executor 0.
  auto AtOneExecutor() && {
    return PartitionedStream(std::move(origin_), std::move(chain_), OneKeyForAll{}, InTurn{.executors = 1});
  }

  Origin origin_;
  Chain chain_;
};

/// Starts a query. `source` is a SourceSpec (engine/source/source.h), whose records are read where they lie and copied
/// as their bytes.
template <typename Spec>
auto From(const Spec& source) {
  using R = typename Spec::Record;
  ExpectDescribedTexts<R>();
  static_assert(std::is_trivially_copyable_v<R>,
                "glaive: From() takes a source of plain data: no std::string, no containers, no other owner of memory");
  using Origin = SourceOrigin<R, decltype(source.event_time_ms)>;
  auto vertex = std::make_shared<const SourceVertex<R>>(source);
  return Stream<Origin, SourceStep<R>>(
      Origin{.vertex = std::move(vertex), .event_time_ms = source.event_time_ms, .tables = {}}, {});
}

}  // namespace glaive::engine

// The query API: a query is a chain of steps. Each step returns a type that has the steps that may come next.
//
//   From(source)              Stream          Filter, Map, FilterMap, FlatMap, Inspect, JoinTable, Split, then KeyBy,
//                                             or Window at once, or To; two streams are joined by api/join.h
//     .KeyBy(key)             KeyedStream     Window, or Aggregate of the whole stream
//     .Window(Tumbling{...})  WindowedStream  AllowedLateness, LateTo, then Aggregate
//     .Aggregate(Count{})     Stream          of the results: all of the above
//     .To(sink)               std::unique_ptr<GraphQuery>, which is a Query; several are united by api/together.h
//
// Everything up to the window fuses into one loop at compile time. The results of a window are a stream again, with the
// windows' last milliseconds as event times: they can be mapped, and grouped and aggregated again. A step that comes
// too early or too late does not compile, and the message says what to write instead.
//
//   std::unique_ptr<Query> query = From(source)
//       .Filter([](const Event& e) { return e.type == EventType::kView; })
//       .Map([](const Event& e) { return View{e.ad, e.user}; })
//       .KeyBy(&View::ad)
//       .Window(Tumbling{absl::Minutes(10)})
//       .Aggregate(Count{})
//       .To(Csv{"views.csv"});
//
// Functions passed in are shared by the executors of a process: pure ones, or lookups in constant tables.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/time/time.h"

#include "engine/api/origin.h"
#include "engine/api/static_table.h"
#include "engine/api/wrong_order.h"
#include "engine/executor/query.h"
#include "engine/graph/flat_map.h"
#include "engine/graph/graph_query.h"
#include "engine/graph/sink_writer.h"
#include "engine/graph/source_reader.h"
#include "engine/stage/aggregation_plan.h"
#include "engine/stage/aggregation_stage.h"
#include "engine/steps/aggregates.h"
#include "engine/steps/steps.h"
#include "engine/window/window_spec.h"
#include "rdma/base/check.h"

namespace glaive::engine {

template <typename Origin, Step Chain>
class Stream;

/// The stream of a stage's results: `vertex` is its part of the graph.
template <typename Row, bool kHasTime>
auto ResultsOf(std::shared_ptr<const ProducerVertex<Row>> vertex) {
  return Stream<StageOrigin<Row, kHasTime>, SourceStep<Row>>(
      {.vertex = std::move(vertex), .event_time_ms = {}, .tables = {}}, {});
}

/// After Window. `kHasLateSink` says whether LateTo was called.
template <typename Origin, typename Chain, typename Key, typename W, bool kHasLateSink = false>
class WindowedStream {
 public:
  using Record = typename Chain::Out;

  WindowedStream(Origin origin, Chain chain, Key key, W window)
      : origin_(std::move(origin)), chain_(std::move(chain)), key_(std::move(key)), window_(window) {}

  /// How long windows wait for records behind the watermark: they fire, once, that much later in event time, and a
  /// record is late that much later. (Other engines fire on time and again for each late record.) Whole milliseconds,
  /// not negative, else the process ends with a message; 0 if it isn't called.
  WindowedStream AllowedLateness(absl::Duration lateness) && {
    static_assert(Origin::kFromSource,
                  "glaive: AllowedLateness() is for records of a source; results of a stage are never out of order");
    allowed_lateness_ms_ = WholeLateness(lateness);
    return std::move(*this);
  }

  /// Where records go that are late for all their windows: rows of LateRecord<Record>, each written by the executor
  /// that read it. Without it they are only counted. Results of a stage are late only in a join, behind a time when all
  /// sources of that stage were idle and the join went on without it. `sink` is what To() takes.
  template <typename S>
  auto LateTo(const S& sink) && {
    constexpr bool kIsSink = SinkSpecFor<S, LateRecord<Record>>;
    static_assert(kIsSink,
                  "glaive: LateTo() takes a sink for LateRecord<...> of the stream's records, such as Csv{path}");
    static_assert(!kHasLateSink, "glaive: a query has one LateTo()");
    if constexpr (kIsSink && !kHasLateSink) {
      WindowedStream<Origin, Chain, Key, W, true> next(std::move(origin_), std::move(chain_), std::move(key_), window_);
      next.allowed_lateness_ms_ = allowed_lateness_ms_;
      next.late_sink_ = sink.template Factory<LateRecord<Record>>();
      return next;
    } else {
      return WrongOrder{};
    }
  }

  /// What is computed of the records of each key and window.
  template <typename A>
  auto Aggregate(const A& aggregate) && {
    constexpr bool kDistinct = kDistincts<A> > 0;
    constexpr bool kIsAggregate = AggregateOf<A, Record> && kElementsAreKeys<A, Record>;
    constexpr bool kHasOneDistinctAtMost = kDistincts<A> <= 1;
    constexpr bool kGoTogether = !kDistinct || !std::is_same_v<W, Session>;
    static_assert(kIsAggregate,
                  "glaive: Aggregate() takes an aggregate of the stream's records, such as Count{}; what Distinct{} "
                  "counts could be a key");
    static_assert(kHasOneDistinctAtMost,
                  "glaive: Several{} holds one Distinct{} at most; join the results of two aggregations instead");
    static_assert(kGoTogether, "glaive: Distinct{} is not for Session{gap}, only for windows that all keys share");
    if constexpr (kIsAggregate && kHasOneDistinctAtMost && kGoTogether) {
      if constexpr (kDistinct && std::is_same_v<W, Unbounded>) {
        GLAIVE_CHECK(window_.every == absl::InfiniteDuration(),
                     "Distinct{} with Unbounded{.every = ", absl::FormatDuration(window_.every),
                     "}; it has results at the end only");
      }
      using Plan = AggregationPlan<Origin, Chain, Key, W, A, kHasLateSink>;
      return ResultsOf<typename Plan::Row, !std::is_same_v<W, Unbounded>>(
          std::make_shared<const AggregationVertex<Plan>>(Plan{.origin = std::move(origin_),
                                                               .chain = std::move(chain_),
                                                               .key = std::move(key_),
                                                               .window = window_,
                                                               .allowed_lateness_ms = allowed_lateness_ms_,
                                                               .aggregate = aggregate,
                                                               .late_sink = std::move(late_sink_)}));
    } else {
      return WrongOrder{};
    }
  }

  GLAIVE_WRONG_ORDER(Filter, "glaive: Filter() comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(Map, "glaive: Map() comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(FilterMap, "glaive: FilterMap() comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(FlatMap, "glaive: FlatMap() comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(Inspect, "glaive: Inspect() comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(KeyBy, "glaive: KeyBy() comes once, before Window(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(Window, "glaive: a stream has one Window(); after it comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(To, "glaive: To() needs results: call Aggregate(...) after Window()")

 private:
  template <typename, typename, typename, typename, bool>
  friend class WindowedStream;

  Origin origin_;
  Chain chain_;
  Key key_;
  W window_;
  std::int64_t allowed_lateness_ms_ = 0;
  SinkFactory<LateRecord<Record>> late_sink_;
};

/// After KeyBy.
template <typename Origin, typename Chain, typename Key>
class KeyedStream {
 public:
  KeyedStream(Origin origin, Chain chain, Key key)
      : origin_(std::move(origin)), chain_(std::move(chain)), key_(std::move(key)) {}

  /// Groups each key's records by event time: Tumbling{size}, Sliding{size, slide} or Session{gap}, of at least 1 ms,
  /// or not at all: Unbounded{every}.
  template <typename W>
  auto Window(const W& window) && {
    static_assert(kIsWindow<W>,
                  "glaive: Window() takes Tumbling{size}, Sliding{size, slide}, Session{gap} or Unbounded{every}");
    constexpr bool kHasTime = Origin::kHasTime || std::is_same_v<W, Unbounded>;
    static_assert(kHasTime,
                  "glaive: this stream has no event times to be grouped by, as results of Unbounded{} have none; "
                  "Aggregate() it without a window, or To() a sink");
    if constexpr (std::is_same_v<W, Unbounded> && !Origin::kHasTime) {
      GLAIVE_CHECK(window.every == absl::InfiniteDuration(), "Unbounded{.every = ", absl::FormatDuration(window.every),
                   "} over a stream without event times; it has results at the end only");
    }
    if constexpr (kIsWindow<W> && kHasTime) {
      return WindowedStream<Origin, Chain, Key, W>(std::move(origin_), std::move(chain_), std::move(key_), window);
    } else {
      return WrongOrder{};
    }
  }

  /// One result for each key, of all its records, at the end of the stream: as
  /// Window(Unbounded{}).Aggregate(aggregate).
  template <typename A>
  auto Aggregate(const A& aggregate) && {
    return std::move(*this).Window(Unbounded{}).Aggregate(aggregate);
  }

  GLAIVE_WRONG_ORDER(Filter, "glaive: Filter() comes before KeyBy(); after KeyBy() comes Window(...)")
  GLAIVE_WRONG_ORDER(Map, "glaive: Map() comes before KeyBy(); after KeyBy() comes Window(...)")
  GLAIVE_WRONG_ORDER(FilterMap, "glaive: FilterMap() comes before KeyBy(); after KeyBy() comes Window(...)")
  GLAIVE_WRONG_ORDER(FlatMap, "glaive: FlatMap() comes before KeyBy(); after KeyBy() comes Window(...)")
  GLAIVE_WRONG_ORDER(Inspect, "glaive: Inspect() comes before KeyBy(); after KeyBy() comes Window(...)")
  GLAIVE_WRONG_ORDER(KeyBy, "glaive: a stream has one KeyBy(); after it comes Window(...)")
  GLAIVE_WRONG_ORDER(AllowedLateness, "glaive: AllowedLateness() comes after Window()")
  GLAIVE_WRONG_ORDER(LateTo, "glaive: LateTo() comes after Window()")
  GLAIVE_WRONG_ORDER(To, "glaive: To() needs results: call Aggregate(...) after KeyBy(), maybe behind Window(...)")

 private:
  Origin origin_;
  Chain chain_;
  Key key_;
};

/// What stands for KeyBy where a query has none.
struct OneKeyForAll {
  template <typename R>
  AllRecords operator()(const R&) const {
    return {};
  }
};

/// A stream of records of type `Chain::Out`. A value: a copy is the same stream, whose source is read once for both.
template <typename Origin, Step Chain>
class Stream {
 public:
  using Record = typename Chain::Out;

  Stream(Origin origin, Chain chain) : origin_(std::move(origin)), chain_(std::move(chain)) {}

  /// Selects the records for which `predicate` holds.
  template <typename Predicate>
    requires std::predicate<const Predicate&, const Record&>
  auto Filter(Predicate predicate) && {
    return Then(FilterStep<Chain, Predicate>{std::move(chain_), std::move(predicate)});
  }

  /// Replaces every record by what `function` makes of it; its event time stays.
  template <typename Function>
    requires std::invocable<const Function&, const Record&>
  auto Map(Function function) && {
    return Then(MapStep<Chain, Function>{std::move(chain_), std::move(function)});
  }

  /// Map and Filter in one: `function` returns an optional, and records without a value are dropped.
  template <typename Function>
    requires std::invocable<const Function&, const Record&> &&
             kIsOptional<std::remove_cvref_t<std::invoke_result_t<const Function&, const Record&>>>
  auto FilterMap(Function function) && {
    return Then(FilterMapStep<Chain, Function>{std::move(chain_), std::move(function)});
  }

  /// Replaces every record by those in the range that `function` makes of it, a vector, a small array or a view, in
  /// their order and with its event time. The fiber may yield while the range is read, so a view must not refer to what
  /// another call of the function overwrites.
  template <typename Function>
    requires std::ranges::input_range<std::invoke_result_t<const Function&, const Record&>>
  auto FlatMap(Function function) && {
    using Out = std::ranges::range_value_t<std::invoke_result_t<const Function&, const Record&>>;
    static_assert(std::is_trivially_copyable_v<Out>,
                  "glaive: FlatMap() makes plain data: no std::string, no containers, no other owner of memory; nor a "
                  "std::pair or std::tuple: write a struct");
    static_assert(sizeof(std::invoke_result_t<const Function&, const Record&>) <= kMostRangeBytes,
                  "glaive: the range of FlatMap() lies on a fiber's small stack: return a std::vector, or less");
    using FlatOrigin = FlatMapOrigin<Origin, Out>;
    using Unwrapped = MapStep<SourceStep<TimedRecord<Out>>, RecordOfTimedRecord>;
    return Stream<FlatOrigin, Unwrapped>(
        FlatOrigin{.vertex = std::make_shared<const FlatMapVertex<Origin, Chain, Function, Out>>(
                       std::move(origin_), std::move(chain_), std::move(function)),
                   .event_time_ms = {},
                   .tables = {}},
        {});
  }

  /// Calls `function` with every record, once, and passes the record on: for counters and traces. Copies of the stream
  /// call it each for themselves. The executors of a process call it at the same time. Its result is ignored.
  template <typename Function>
    requires std::invocable<const Function&, const Record&>
  auto Inspect(Function function) && {
    return Then(InspectStep<Chain, Function>{std::move(chain_), std::move(function)});
  }

  /// Joins each record with the table's entry under its key, `key(record)`: the stream is then of what
  /// `combine(record, value)` makes of both. Records whose key the table doesn't have are dropped.
  template <typename K, typename V, typename Key, typename Combine>
    requires std::invocable<const Key&, const Record&> && std::invocable<const Combine&, const Record&, const V&>
  auto JoinTable(std::shared_ptr<const StaticTable<K, V>> table, Key key, Combine combine) && {
    using Joined = std::remove_cvref_t<std::invoke_result_t<const Combine&, const Record&, const V&>>;
    origin_.tables.emplace(table.get(), table->size_bytes());
    return std::move(*this).FilterMap([table = std::move(table), key = std::move(key),
                                       combine = std::move(combine)](const Record& record) -> std::optional<Joined> {
      const V* value = table->Find(std::invoke(key, record));
      return value == nullptr ? std::nullopt : std::optional<Joined>(std::invoke(combine, record, *value));
    });
  }

  /// Two streams of the same source, which is read once: a record goes to each whose predicate holds.
  template <typename First, typename Second>
    requires std::predicate<const First&, const Record&> && std::predicate<const Second&, const Record&>
  auto Split(First first, Second second) const& {
    return std::pair(Stream(*this).Filter(std::move(first)), Stream(*this).Filter(std::move(second)));
  }

  /// Says what records are grouped by: a callable or a member pointer. The key is hashed and shipped as its bytes, so
  /// its type has no padding and no pointers; rdma/base/plain_data.h says which the compiler cannot see.
  template <typename Key>
    requires std::invocable<const Key&, const Record&>
  auto KeyBy(Key key) && {
    static_assert(state::StateKey<std::remove_cvref_t<std::invoke_result_t<const Key&, const Record&>>>,
                  "glaive: KeyBy() needs a key without padding, pointers or floating-point numbers");
    return KeyedStream<Origin, Chain, Key>(std::move(origin_), std::move(chain_), std::move(key));
  }

  /// Groups all records by event time, as KeyedStream::Window does those of each key: one result a window, over all
  /// flows, whose key is AllRecords.
  template <typename W>
  auto Window(const W& window) && {
    return KeyedStream<Origin, Chain, OneKeyForAll>(std::move(origin_), std::move(chain_), {}).Window(window);
  }

  /// One result of all records, at the end of the stream: as Window(Unbounded{}).Aggregate(aggregate).
  template <typename A>
  auto Aggregate(const A& aggregate) && {
    return std::move(*this).Window(Unbounded{}).Aggregate(aggregate);
  }

  /// Ends the stream in a sink: Csv, Collect, ForEach, Discard, AllOf, or your own (engine/sink/sink.h). Records move
  /// to no other executor: each writes the results of windows that it leads or, without a window, what it makes of the
  /// records that it reads, in their order.
  template <typename S>
  std::unique_ptr<GraphQuery> To(const S& sink) && {
    constexpr bool kIsSink = SinkSpecFor<S, Record>;
    static_assert(kIsSink, "glaive: To() takes a sink for this query's rows, such as Csv{path} or Discard{}");
    if constexpr (kIsSink) {
      return std::make_unique<GraphQuery>(
          std::vector<std::shared_ptr<const Vertex>>{std::make_shared<const SinkVertex<Origin, Chain>>(
              std::move(origin_), std::move(chain_), sink.template Factory<Record>())});
    } else {
      return nullptr;
    }
  }

  GLAIVE_WRONG_ORDER(AllowedLateness, "glaive: AllowedLateness() comes after Window()")
  GLAIVE_WRONG_ORDER(LateTo, "glaive: LateTo() comes after Window()")

 private:
  template <typename, Step>
  friend class JoinInput;

  static constexpr std::size_t kMostRangeBytes = 4096;

  template <typename Next>
  auto Then(Next next) {
    return Stream<Origin, Next>(std::move(origin_), std::move(next));
  }

  Origin origin_;
  Chain chain_;
};

/// Starts a query. `source` is a SourceSpec (engine/source/source.h), whose records are read where they lie and copied
/// as their bytes.
template <typename Spec>
auto From(Spec source) {
  using R = typename Spec::Record;
  static_assert(std::is_trivially_copyable_v<R>,
                "glaive: From() takes a source of plain data: no std::string, no containers, no other owner of memory");
  using Origin = SourceOrigin<R, decltype(source.event_time_ms)>;
  return Stream<Origin, SourceStep<R>>(Origin{.vertex = std::make_shared<const SourceVertex<R>>(
                                                  std::move(source.open), source.memory_bytes, Origin::kHasTime),
                                              .event_time_ms = std::move(source.event_time_ms),
                                              .tables = {}},
                                       {});
}

}  // namespace glaive::engine

// The query API: a query is a chain of steps, each returning the stage that knows what may come next.
//
//   From(source)                        Stream        Filter, Map, FilterMap, then KeyBy, or Window at once
//     .KeyBy(key)                       KeyedStream   Window
//     .Window(Tumbling{...})            WindowedStream AllowedLateness, LateTo, then Aggregate
//     .Aggregate(Count{})               Results       To
//     .To(sink)                         std::unique_ptr<Query>
//
// Everything up to the window fuses into one loop at compile time. A step that comes too early or too late does not
// compile, and the message says what to write instead.
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

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"

#include "engine/api/aggregates.h"
#include "engine/api/query.h"
#include "engine/api/steps.h"
#include "engine/api/wrong_order.h"
#include "engine/executor/aggregation_plan.h"
#include "engine/executor/aggregation_task.h"
#include "engine/window/windows.h"
#include "rdma/base/check.h"

namespace glaive::engine {

/// A Query over one AggregationPlan.
template <typename Plan>
class AggregationQuery final : public Query {
 public:
  explicit AggregationQuery(Plan plan) : plan_(std::move(plan)) {}

  std::size_t delta_entry_bytes() const override { return sizeof(typename Plan::Store::Entry); }
  std::uint64_t source_memory_bytes() const override { return plan_.source.memory_bytes; }
  std::int64_t window_ms() const override {
    constexpr std::int64_t kMaxSlides = 16;  // a leader keeps a table for each, and of each slide that flows lead by
    constexpr std::int64_t kMostMs = kMaxEventTimeMs / kMaxSlides;  // some of them still fit 64 bits
    const Windows windows(plan_.window);
    return std::min({kMostMs, windows.size_ms(), kMaxSlides * std::min(kMostMs, windows.slide_ms())});
  }

  absl::StatusOr<std::unique_ptr<QueryTask>> Open(TaskContext& context) const override {
    return AggregationTask<Plan>::Open(plan_, context);
  }

 private:
  Plan plan_;
};

/// After Aggregate: rows of {window, key, value}, ready for a sink.
template <typename Plan>
class Results {
 public:
  using Row = typename Plan::Row;

  explicit Results(Plan plan) : plan_(std::move(plan)) {}

  /// Ends the query. `sink` is Csv, Collect, Discard, AllOf, or your own (engine/sink/sink.h).
  template <typename S>
  std::unique_ptr<Query> To(const S& sink) && {
    constexpr bool kIsSink = SinkSpecFor<S, Row>;
    static_assert(kIsSink, "glaive: To() takes a sink for this query's rows, such as Csv{path} or Discard{}");
    if constexpr (kIsSink) {
      plan_.sink = sink.template Factory<Row>();
      return std::make_unique<AggregationQuery<Plan>>(std::move(plan_));
    } else {
      return nullptr;
    }
  }

  GLAIVE_WRONG_ORDER(Filter, "glaive: Filter() comes before KeyBy(); after Aggregate() comes To(sink)")
  GLAIVE_WRONG_ORDER(Map, "glaive: Map() comes before KeyBy(); after Aggregate() comes To(sink)")
  GLAIVE_WRONG_ORDER(FilterMap, "glaive: FilterMap() comes before KeyBy(); after Aggregate() comes To(sink)")
  GLAIVE_WRONG_ORDER(KeyBy, "glaive: KeyBy() comes before Window(); after Aggregate() comes To(sink)")
  GLAIVE_WRONG_ORDER(Window, "glaive: Window() comes before Aggregate(); after it comes To(sink)")
  GLAIVE_WRONG_ORDER(AllowedLateness, "glaive: AllowedLateness() comes between Window() and Aggregate()")
  GLAIVE_WRONG_ORDER(LateTo, "glaive: LateTo() comes between Window() and Aggregate()")
  GLAIVE_WRONG_ORDER(Aggregate, "glaive: a query has one Aggregate(); after it comes To(sink)")

 private:
  Plan plan_;
};

/// After Window. `kKeepsLate` says whether LateTo was called.
template <typename Spec, typename Chain, typename Key, typename W, bool kKeepsLate = false>
class WindowedStream {
 public:
  using Record = typename Chain::Out;

  WindowedStream(Spec source, Chain chain, Key key, W window)
      : source_(std::move(source)), chain_(std::move(chain)), key_(std::move(key)), window_(window) {}

  /// How long windows wait for records behind the watermark: they fire, once, that much later in event time, and a
  /// record is late that much later. (Other engines fire on time and again for each late record.) Whole milliseconds,
  /// not negative, else the process ends with a message; 0 if it isn't called.
  WindowedStream AllowedLateness(absl::Duration lateness) && {
    allowed_lateness_ms_ = absl::ToInt64Milliseconds(lateness);
    GLAIVE_CHECK(allowed_lateness_ms_ >= 0 && absl::Milliseconds(allowed_lateness_ms_) == lateness,
                 "an allowed lateness of ", absl::FormatDuration(lateness),
                 "; it must be whole milliseconds, not negative");
    return std::move(*this);
  }

  /// Where records go that are late for all their windows: rows of LateRecord<Record>, each written by the executor
  /// that read it. Without it they are only counted. `sink` is what To() takes.
  template <typename S>
  auto LateTo(const S& sink) && {
    constexpr bool kIsSink = SinkSpecFor<S, LateRecord<Record>>;
    static_assert(kIsSink,
                  "glaive: LateTo() takes a sink for LateRecord<...> of the stream's records, such as Csv{path}");
    static_assert(!kKeepsLate, "glaive: a query has one LateTo()");
    if constexpr (kIsSink && !kKeepsLate) {
      WindowedStream<Spec, Chain, Key, W, true> next(std::move(source_), std::move(chain_), std::move(key_), window_);
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
    constexpr bool kDistinct = DistinctOf<A, Record>;
    constexpr bool kIsAggregate = IsAggregateOf<A, Record>();
    constexpr bool kGoTogether = !kDistinct || !std::is_same_v<W, Session>;
    static_assert(
        kIsAggregate,
        "glaive: Aggregate() takes an aggregate of the stream's records, such as Count{}, or Distinct{} alone");
    static_assert(kGoTogether, "glaive: Distinct{} is not for Session{gap}, only for windows that all keys share");
    if constexpr (kIsAggregate && kGoTogether) {
      if constexpr (kDistinct && std::is_same_v<W, Unbounded>) {
        GLAIVE_CHECK(window_.every == absl::InfiniteDuration(),
                     "Distinct{} with Unbounded{.every = ", absl::FormatDuration(window_.every),
                     "}; it has results at the end only");
      }
      using Plan = AggregationPlan<Spec, Chain, Key, W, A, kKeepsLate>;
      return Results<Plan>(Plan{.source = std::move(source_),
                                .chain = std::move(chain_),
                                .key = std::move(key_),
                                .window = window_,
                                .allowed_lateness_ms = allowed_lateness_ms_,
                                .aggregate = aggregate,
                                .sink = nullptr,
                                .late_sink = std::move(late_sink_)});
    } else {
      return WrongOrder{};
    }
  }

  GLAIVE_WRONG_ORDER(Filter, "glaive: Filter() comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(Map, "glaive: Map() comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(FilterMap, "glaive: FilterMap() comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(KeyBy, "glaive: KeyBy() comes once, before Window(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(Window, "glaive: a stream has one Window(); after it comes Aggregate(...)")
  GLAIVE_WRONG_ORDER(To, "glaive: To() needs results: call Aggregate(...) after Window()")

 private:
  template <typename, typename, typename, typename, bool>
  friend class WindowedStream;

  Spec source_;
  Chain chain_;
  Key key_;
  W window_;
  std::int64_t allowed_lateness_ms_ = 0;
  SinkFactory<LateRecord<Record>> late_sink_;
};

/// After KeyBy.
template <typename Spec, typename Chain, typename Key>
class KeyedStream {
 public:
  KeyedStream(Spec source, Chain chain, Key key)
      : source_(std::move(source)), chain_(std::move(chain)), key_(std::move(key)) {}

  /// Groups each key's records by event time: Tumbling{size}, Sliding{size, slide} or Session{gap}, of at least 1 ms,
  /// or not at all: Unbounded{every}.
  template <typename W>
  auto Window(const W& window) && {
    constexpr bool kIsWindow = std::is_same_v<W, Tumbling> || std::is_same_v<W, Sliding> ||
                               std::is_same_v<W, Session> || std::is_same_v<W, Unbounded>;
    static_assert(kIsWindow,
                  "glaive: Window() takes Tumbling{size}, Sliding{size, slide}, Session{gap} or Unbounded{every}");
    if constexpr (kIsWindow) {
      return WindowedStream<Spec, Chain, Key, W>(std::move(source_), std::move(chain_), std::move(key_), window);
    } else {
      return WrongOrder{};
    }
  }

  GLAIVE_WRONG_ORDER(Filter, "glaive: Filter() comes before KeyBy(); after KeyBy() comes Window(...)")
  GLAIVE_WRONG_ORDER(Map, "glaive: Map() comes before KeyBy(); after KeyBy() comes Window(...)")
  GLAIVE_WRONG_ORDER(FilterMap, "glaive: FilterMap() comes before KeyBy(); after KeyBy() comes Window(...)")
  GLAIVE_WRONG_ORDER(KeyBy, "glaive: a stream has one KeyBy(); after it comes Window(...)")
  GLAIVE_WRONG_ORDER(AllowedLateness, "glaive: AllowedLateness() comes after Window()")
  GLAIVE_WRONG_ORDER(LateTo, "glaive: LateTo() comes after Window()")
  GLAIVE_WRONG_ORDER(Aggregate, "glaive: Aggregate() needs windows: call Window(...) after KeyBy()")
  GLAIVE_WRONG_ORDER(To, "glaive: To() needs results: call Window(...) and Aggregate(...) after KeyBy()")

 private:
  Spec source_;
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

/// A stream of records of type `Chain::Out`.
template <typename Spec, Step Chain>
class Stream {
 public:
  using Record = typename Chain::Out;

  Stream(Spec source, Chain chain) : source_(std::move(source)), chain_(std::move(chain)) {}

  /// Keeps the records for which `predicate` holds.
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

  /// Says what records are grouped by: a callable or a member pointer. The key is hashed and shipped as its bytes, so
  /// its type has no padding and no pointers.
  template <typename Key>
    requires std::invocable<const Key&, const Record&>
  auto KeyBy(Key key) && {
    static_assert(state::StateKey<std::remove_cvref_t<std::invoke_result_t<const Key&, const Record&>>>,
                  "glaive: KeyBy() needs a key without padding, pointers or floating-point numbers");
    return KeyedStream<Spec, Chain, Key>(std::move(source_), std::move(chain_), std::move(key));
  }

  /// Groups all records by event time, as KeyedStream::Window does those of each key: one result a window, over all
  /// flows, whose key is AllRecords.
  template <typename W>
  auto Window(const W& window) && {
    return KeyedStream<Spec, Chain, OneKeyForAll>(std::move(source_), std::move(chain_), {}).Window(window);
  }

  GLAIVE_WRONG_ORDER(AllowedLateness, "glaive: AllowedLateness() comes after Window()")
  GLAIVE_WRONG_ORDER(LateTo, "glaive: LateTo() comes after Window()")
  GLAIVE_WRONG_ORDER(Aggregate, "glaive: Aggregate() needs windows: call Window(...) first, and KeyBy(...) before it")
  GLAIVE_WRONG_ORDER(To, "glaive: To() needs results: call KeyBy(...), Window(...) and Aggregate(...) first")

 private:
  template <typename Next>
  auto Then(Next next) {
    return Stream<Spec, Next>(std::move(source_), std::move(next));
  }

  Spec source_;
  Chain chain_;
};

/// Starts a query. `source` is a SourceSpec (engine/source/source.h).
template <typename Spec>
auto From(Spec source) {
  return Stream<Spec, SourceStep<typename Spec::Record>>(std::move(source), {});
}

}  // namespace glaive::engine

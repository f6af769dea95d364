// WindowedStream: a stream behind Window: it can be aggregated, or processed window by window. See stream.h.
//
//   From(source).KeyBy(&Ride::driver)
//       .Window(Tumbling{absl::Hours(1)})         a WindowedStream
//       .AllowedLateness(absl::Seconds(5))        windows fire 5 s of event time later
//       .LateTo(Csv{"late.csv"})                  records that are late even so
//       .Aggregate(Sum{&Ride::meters})            a Stream of WindowResult<key, sum>
//
// What moves: for Aggregate, of each key in a slice one change an epoch, to the leader of the key, which emits the
// results, or a part of each record (see Aggregate). For Process, each record, to that leader. Behind Partition()
// nothing: the records of a key are with its leader already. A late record stays on the executor that has read it.
// Windows by the order of records are OrderedWindowedStream.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"

#include "engine/api/named_stream.h"
#include "engine/api/ordered_windowed_stream.h"
#include "engine/api/origin.h"
#include "engine/api/wrong_order.h"
#include "engine/graph/vertex.h"
#include "engine/graph/window_contents.h"
#include "engine/sink/sink.h"
#include "engine/stage/aggregation_plan.h"
#include "engine/stage/aggregation_stage.h"
#include "engine/stage/content_plan.h"
#include "engine/stage/content_stage.h"
#include "engine/stage/stage_scope.h"
#include "engine/steps/aggregates.h"
#include "engine/steps/steps.h"
#include "engine/window/window_spec.h"
#include "rdma/base/check.h"
#include "state/record/record.h"

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
class WindowedStream : public NamedStream {
 public:
  GLAIVE_USES_NAMED(LateTo, )
  GLAIVE_USES_NAMED(Aggregate, )
  GLAIVE_USES_NAMED(Process, )

  using Record = typename Chain::Out;
  using K = std::remove_cvref_t<std::invoke_result_t<const Key&, const Record&>>;

  /// `scope` says where all records of a key are.
  WindowedStream(Origin origin, Chain chain, Key key, W window, StageScope scope)
      : origin_(std::move(origin)), chain_(std::move(chain)), key_(std::move(key)), window_(window), scope_(scope) {}

  /// How long windows wait for records behind the watermark: they fire, once, that much later in event time, and a
  /// record is late that much later. (Other engines fire on time and again for each late record.) Whole milliseconds,
  /// not negative, else the process ends with a message; 0 if it isn't called.
  WindowedStream AllowedLateness(absl::Duration lateness) && {
    static_assert(Origin::kFromSource,
                  "glaive: AllowedLateness() is for records of a source; results of a stage are never out of order");
    allowed_lateness_ms_ = WholeLateness(lateness);
    return std::move(*this);
  }
  /// Of a named stream. Its argument is converted, so NamedStream does not have it.
  template <typename... None>
  WrongOrder AllowedLateness(absl::Duration /*lateness*/) const& {
    return OfNamedStream<None...>();
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
      WindowedStream<Origin, Chain, Key, W, true> next(std::move(origin_), std::move(chain_), std::move(key_), window_,
                                                       scope_);
      next.allowed_lateness_ms_ = allowed_lateness_ms_;
      next.late_sink_ = sink.template Factory<LateRecord<Record>>();
      return next;
    } else {
      return WrongOrder{};
    }
  }

  /// What is computed of the records of each key and window. No record moves as such: each executor folds its own, and
  /// sends the values to the leaders of their keys, which merge them. Where keys hardly recur, and where values have
  /// texts, it sends of each record the key and what the aggregate reads of it.
  template <typename A>
  auto Aggregate(const A& aggregate) && {
    constexpr bool kDistinct = kDistincts<A> > 0;
    constexpr bool kIsRefused = std::is_base_of_v<RefusedAggregate, A>;
    constexpr bool kReads = [] {
      if constexpr (kIsRefused) {
        return false;
      } else {
        return ExpectReadable<A, Record>();
      }
    }();
    constexpr bool kIsAggregate = [] {
      if constexpr (!kReads) {
        return false;
      } else {
        return AggregateOf<A, Record> && kElementsAreKeys<A, Record>;
      }
    }();
    constexpr bool kGoTogether = !kDistinct || !std::is_same_v<W, Session>;
    static_assert(kIsAggregate || kIsRefused || !kReads,
                  "glaive: Aggregate() takes an aggregate of the stream's records, such as Count{}; what Distinct{} "
                  "counts could be a key");
    static_assert(kGoTogether, "glaive: Distinct{} is not for Session{gap}, only for windows that all keys share");
    if constexpr (kIsAggregate && kGoTogether) {
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
                                                               .late_sink = std::move(late_sink_),
                                                               .scope = scope_}));
    } else {
      return WrongOrder{};
    }
  }

  /// What `function(key, window, records)` makes of the records of each key and window: one row, or none or one in a
  /// std::optional, or those in a range such as a std::vector. `window` is a TimeWindow, `records` a std::span of all
  /// records of the window in the order of their event times. Without a key it is `function(window, records)`. It is
  /// called in one piece, so a window of very many records delays others. Each record moves to the leader of its key.
  template <typename Function>
  auto Process(Function function) && {
    constexpr bool kEnds = !std::is_same_v<W, Unbounded>;
    constexpr bool kHides = kHidesText<Record>;
    static_assert(kEnds, "glaive: Process() takes windows that end: Tumbling, Sliding, Session, or CountWindow");
    ExpectDescribedTexts<Record>();
    constexpr bool kFits = [] {
      if constexpr (kEnds && !kHides) {
        return ExpectProcessFunction<Function, K, TimeWindow, Record>();
      } else {
        return false;
      }
    }();
    if constexpr (!kFits) {
      return WrongOrder{};
    } else {
      using Input = ContentInput<Origin, Chain, Key, kHasLateSink>;
      using Plan = ContentPlan<Input, W, Function>;
      return ResultsOf<typename Plan::Row, /*kHasTime=*/true>(
          std::make_shared<const ContentVertex<Plan>>(Plan{.input = {.origin = std::move(origin_),
                                                                     .chain = std::move(chain_),
                                                                     .key = std::move(key_),
                                                                     .allowed_lateness_ms = allowed_lateness_ms_,
                                                                     .late_sink = std::move(late_sink_),
                                                                     .scope = scope_},
                                                           .window = window_,
                                                           .function = std::move(function)}));
    }
  }

  GLAIVE_GENERIC_STEPS_BEFORE_KEYS(GLAIVE_WRONG_STREAM_STEP,
                                   "comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_OTHER_STEPS_BEFORE_KEYS(GLAIVE_WRONG_STREAM_STEP, "comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_STEPS_WITH_STATE(GLAIVE_WRONG_STREAM_STEP, "comes before Window(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_STREAM_STEP(JoinTable, "comes before KeyBy(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_STREAM_STEP(Partition, "comes before Window(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_STREAM_STEP(Unkey, "comes before Window(); after Window() comes Aggregate(...)")
  GLAIVE_WRONG_STREAM_STEP(DropKey, "comes before Window(); after Window() comes Aggregate(...)")
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
  StageScope scope_;
  std::int64_t allowed_lateness_ms_ = 0;
  SinkFactory<LateRecord<Record>> late_sink_;
};

}  // namespace glaive::engine

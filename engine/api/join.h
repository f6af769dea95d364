// Joins in the query API: two streams become one, which has the pairs of their records with the same key and window.
//
//   Join(a, b)                          also LeftJoin, FullJoin: records without a partner have a result, too;
//                                       SemiJoin, AntiJoin: the left records that have a partner, or have none
//     .On(key_of_a, key_of_b)           callables or member pointers; both keys have the same type
//     .Ship(...), .Local(...)           optional: what moves, and how pairs are found (api/join_shipping.h)
//     .Window(Tumbling{...})            Tumbling, Sliding, Session, or Unbounded{} for none; ProcessingTime(w) for one
//                                       of these by the clock. Or .Within(lower, upper), by how far apart two records
//                                       are (api/interval_join.h)
//     .AllowedLateness(d)               optional
//     .LateTo(sink_of_a, sink_of_b)     optional: sinks for the records that are late for all their windows
//     .Keep(part_of_a, part_of_b)       optional: the parts of the records that are kept and shipped; else all of them.
//                                       Of SemiJoin and AntiJoin: .Keep(part_of_a)
//     .To(sink), or .Map(...) and so on: the results are a stream again, as those of an aggregation (api/stream.h)
//
// What moves: of each record its key and the part that Keep names, to the leader of the key, unless Ship says
// otherwise. Of the right stream of SemiJoin and AntiJoin the keys move alone.
//
// A result is a WindowResult<Key, std::tuple<A, B>>; where A or B may be missing, it is a std::optional. That of a
// SemiJoin or an AntiJoin is a WindowResult<Key, A>, once for each left record and window. A session spans the records
// of both streams.
//
// Without windows the streams need no event times. If one of them has none, the join takes away those of the other, so
// that neither waits. A pair has a result as soon as both are there, once. A left record of SemiJoin has its result as
// soon as there is a partner. Records without a partner have theirs at the end of the stream. With Local(SortMerge{})
// all results come at the end of the stream.
//
//   std::unique_ptr<Query> query = Join(From(auctions), From(sellers))
//       .On(&Auction::seller, &Seller::id)
//       .Window(Tumbling{absl::Hours(12)})
//       .Keep(&Auction::id, &Seller::name)
//       .To(Csv{"offers.csv"});
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"

// clang-format off: first, since the compiler's errors list all headers on the way to it
#include "engine/api/stream.h"
// clang-format on
#include "engine/api/as_stream.h"
#include "engine/api/functions.h"
#include "engine/api/interval_join.h"
#include "engine/api/join_parts.h"
#include "engine/api/join_shipping.h"
#include "engine/api/named_stream.h"
#include "engine/graph/join_rows.h"
#include "engine/stage/join_plan.h"
#include "engine/stage/join_stage.h"
#include "state/record/record.h"

namespace glaive::engine {

/// After Window. `Method` is a JoinMethod. `kHasLateSink` says whether LateTo was called.
template <JoinKind kKind, typename Left, typename Right, typename LeftKey, typename RightKey, typename W,
          typename Method, bool kHasLateSink = false>
class WindowedJoin : public KeptParts<WindowedJoin<kKind, Left, Right, LeftKey, RightKey, W, Method, kHasLateSink>,
                                      kKind, typename Left::Record, typename Right::Record> {
 public:
  using LeftRecord = typename Left::Record;
  using RightRecord = typename Right::Record;

  WindowedJoin(Left left, Right right, LeftKey left_key, RightKey right_key, W window)
      : left_(std::move(left)),
        right_(std::move(right)),
        left_key_(std::move(left_key)),
        right_key_(std::move(right_key)),
        window_(window) {}

  /// How long windows wait for records of either stream that are behind its watermark; see WindowedStream.
  WindowedJoin AllowedLateness(absl::Duration lateness) && {
    static_assert(Left::Origin::kFromSource || Right::Origin::kFromSource,
                  "glaive: AllowedLateness() is for records of a source; results of a stage are never out of order");
    allowed_lateness_ms_ = WholeLateness(lateness);
    return std::move(*this);
  }
  template <typename... None>
  WrongOrder AllowedLateness(absl::Duration /*lateness*/) const& {
    return OfNamedJoin<None...>();
  }

  /// Where records of the left and of the right stream go that are late for all their windows; see WindowedStream.
  template <typename LeftSink, typename RightSink>
  auto LateTo(const LeftSink& left_sink, const RightSink& right_sink) && {
    constexpr bool kAreSinks =
        SinkSpecFor<LeftSink, LateRecord<LeftRecord>> && SinkSpecFor<RightSink, LateRecord<RightRecord>>;
    static_assert(kAreSinks,
                  "glaive: LateTo() takes sinks for LateRecord<...> of both streams' records, such as Csv{path}");
    static_assert(!kHasLateSink, "glaive: a join has one LateTo()");
    if constexpr (kAreSinks && !kHasLateSink) {
      WindowedJoin<kKind, Left, Right, LeftKey, RightKey, W, Method, true> next(
          std::move(left_), std::move(right_), std::move(left_key_), std::move(right_key_), window_);
      next.allowed_lateness_ms_ = allowed_lateness_ms_;
      next.left_late_sink_ = left_sink.template Factory<LateRecord<LeftRecord>>();
      next.right_late_sink_ = right_sink.template Factory<LateRecord<RightRecord>>();
      return next;
    } else {
      return WrongOrder{};
    }
  }
  GLAIVE_STEP_OF_NAMED_JOIN(LateTo)

  GLAIVE_WRONG_ORDER(Window, "glaive: a join has one Window(); results are grouped again by KeyBy(...) first")
  GLAIVE_WRONG_ORDER(Ship, "glaive: Ship() comes before Window()")
  GLAIVE_WRONG_ORDER(Local, "glaive: Local() comes before Window()")
  GLAIVE_WRONG_ORDER(Aggregate, "glaive: a join has no Aggregate(); group its results by KeyBy(...) first")

 private:
  template <JoinKind, typename, typename, typename, typename, typename, typename, bool>
  friend class WindowedJoin;

  friend class KeptParts<WindowedJoin, kKind, LeftRecord, RightRecord>;

  template <typename Shipped>
  using SideOf = JoinSide<decltype(Shipped::origin), decltype(Shipped::chain), decltype(Shipped::key),
                          decltype(Shipped::keep), W, kHasLateSink>;

  /// The sink of late records of a side. Without LateTo there is none, and the side's records may be parts.
  template <typename Side, typename Sink>
  static SinkFactory<LateRecord<typename Side::Record>> LateSinkOf(const Sink& sink) {
    if constexpr (kHasLateSink) {
      return sink;
    } else {
      return nullptr;
    }
  }

  /// The stream of the results; see KeptParts.
  template <typename LeftKeep, typename RightKeep>
  auto Keeping(LeftKeep left_keep, RightKeep right_keep) && {
    auto left = ShippedBy<typename Method::Ship, /*kIsLeft=*/true, kHasLateSink>(std::move(left_), std::move(left_key_),
                                                                                 std::move(left_keep));
    auto right = ShippedBy<typename Method::Ship, /*kIsLeft=*/false, kHasLateSink>(
        std::move(right_), std::move(right_key_), std::move(right_keep));
    using LeftSide = SideOf<decltype(left)>;
    using RightSide = SideOf<decltype(right)>;
    using Plan = JoinPlan<LeftSide, RightSide, W, kKind, typename Method::Local>;
    constexpr bool kAllAtEnd = std::is_same_v<W, Unbounded> && std::is_same_v<typename Method::Local, SortMerge>;
    return ResultsOf<typename Plan::Row, !std::is_same_v<W, Unbounded>>(std::make_shared<const JoinVertex<Plan>>(
        Plan{.left = {.origin = std::move(left.origin),
                      .chain = std::move(left.chain),
                      .key = std::move(left.key),
                      .keep = std::move(left.keep),
                      .allowed_lateness_ms = Left::Origin::kFromSource ? allowed_lateness_ms_ : 0,
                      .late_sink = LateSinkOf<LeftSide>(left_late_sink_),
                      .scope = Method::kScope,
                      .all_at_end = kAllAtEnd},
             .right = {.origin = std::move(right.origin),
                       .chain = std::move(right.chain),
                       .key = std::move(right.key),
                       .keep = std::move(right.keep),
                       .allowed_lateness_ms = Right::Origin::kFromSource ? allowed_lateness_ms_ : 0,
                       .late_sink = LateSinkOf<RightSide>(right_late_sink_),
                       .scope = Method::kScope,
                       .all_at_end = kAllAtEnd},
             .window = window_}));
  }

  Left left_;
  Right right_;
  LeftKey left_key_;
  RightKey right_key_;
  W window_;
  std::int64_t allowed_lateness_ms_ = 0;
  SinkFactory<LateRecord<LeftRecord>> left_late_sink_;
  SinkFactory<LateRecord<RightRecord>> right_late_sink_;
};

/// After On. `Method` is a JoinMethod.
template <JoinKind kKind, typename Left, typename Right, typename LeftKey, typename RightKey,
          typename Method = JoinMethod<>>
class KeyedJoin : public WithoutSink {
 public:
  KeyedJoin(Left left, Right right, LeftKey left_key, RightKey right_key)
      : left_(std::move(left)),
        right_(std::move(right)),
        left_key_(std::move(left_key)),
        right_key_(std::move(right_key)) {}

  /// What moves: BothByKey{} or RightToAll{} (api/join_shipping.h).
  template <typename S>
  auto Ship(S /*ship*/) && {
    constexpr bool kIsOne = std::is_same_v<S, BothByKey> || std::is_same_v<S, RightToAll>;
    static_assert(kIsOne, "glaive: Ship() takes BothByKey{} or RightToAll{}; leave it out for a late merge");
    static_assert(std::is_same_v<typename Method::Ship, LateMerge>, "glaive: a join has one Ship()");
    constexpr bool kHasIt = kKind != JoinKind::kFull || !std::is_same_v<S, RightToAll>;
    static_assert(kHasIt,
                  "glaive: FullJoin() has no Ship(RightToAll{}), since no executor could tell that a right record has "
                  "no partner on any other: Ship(BothByKey{})");
    return std::move(*this).template By<JoinMethod<S, typename Method::Local>>();
  }

  /// How pairs are found: HashJoin{} or SortMerge{} (api/join_shipping.h).
  template <typename L>
  auto Local(L /*local*/) && {
    constexpr bool kIsOne = std::is_same_v<L, HashJoin> || std::is_same_v<L, SortMerge>;
    static_assert(kIsOne, "glaive: Local() takes HashJoin{} or SortMerge{}; leave it out for HashJoin{}");
    return std::move(*this).template By<JoinMethod<typename Method::Ship, L>>();
  }

  /// Which records meet: those of the same window. Tumbling{size}, Sliding{size, slide}, Session{gap}, or Unbounded{}:
  /// all, and a leader then keeps all for ever. With Unbounded{} the streams need no event times. If one of them has
  /// none, neither waits for the other. ProcessingTime(window) is one of these by the time at which records reach it:
  /// as of two streams behind WithProcessingTime().
  template <typename W>
  auto Window(const W& window) && {
    constexpr bool kByClock = kIsProcessingTimeWindow<W>;
    static_assert(kIsWindow<W> || kByClock,
                  "glaive: Window() takes Tumbling{size}, Sliding{size, slide}, Session{gap} or Unbounded{}");
    constexpr bool kHaveTime = Left::Origin::kHasTime && Right::Origin::kHasTime;
    constexpr bool kFitsTime = kHaveTime || std::is_same_v<W, Unbounded>;
    static_assert(kFitsTime || !kIsWindow<W>,
                  "glaive: a stream of this join has no event times for this window, as results of Unbounded{} have "
                  "none; WithEventTime(time) before the join gives them to it, and Window(Unbounded{}) needs none");
    constexpr bool kSessionsMeet = !std::is_same_v<W, Session> || !std::is_same_v<typename Method::Ship, RightToAll>;
    static_assert(kSessionsMeet,
                  "glaive: a Session{gap} spans records of several executors, which Ship(RightToAll{}) leaves where "
                  "they are: Ship(BothByKey{}), or no Ship()");
    constexpr bool kIsSorted = std::is_same_v<typename Method::Local, SortMerge>;
    static_assert(!std::is_same_v<W, Session> || !kIsSorted,
                  "glaive: Local(SortMerge{}) is for Tumbling{size}, Sliding{size, slide} and Unbounded{}");
    if constexpr (std::is_same_v<W, Unbounded>) {
      GLAIVE_CHECK(window.every == absl::InfiniteDuration(),
                   "a join with Unbounded{.every = ", absl::FormatDuration(window.every),
                   "}; its results come as soon as they are there, or at the end of the stream");
    }
    if constexpr (kByClock) {
      auto left = WithTimesOfTaking(std::move(left_));
      auto right = WithTimesOfTaking(std::move(right_));
      return KeyedJoin<kKind, decltype(left), decltype(right), LeftKey, RightKey, Method>(
                 std::move(left), std::move(right), std::move(left_key_), std::move(right_key_))
          .Window(window.window);
    } else if constexpr (!kIsWindow<W> || !kFitsTime || !kSessionsMeet || (std::is_same_v<W, Session> && kIsSorted)) {
      return WrongOrder{};
    } else if constexpr (kHaveTime) {
      return WindowedJoin<kKind, Left, Right, LeftKey, RightKey, W, Method>(
          std::move(left_), std::move(right_), std::move(left_key_), std::move(right_key_), window);
    } else {
      auto left = WithoutTimes(std::move(left_));
      auto right = WithoutTimes(std::move(right_));
      return WindowedJoin<kKind, decltype(left), decltype(right), LeftKey, RightKey, W, Method>(
          std::move(left), std::move(right), std::move(left_key_), std::move(right_key_), window);
    }
  }
  GLAIVE_STEP_OF_NAMED_JOIN(Ship)
  GLAIVE_STEP_OF_NAMED_JOIN(Local)
  GLAIVE_STEP_OF_NAMED_JOIN(Window)

  /// Which records meet: those of the same key of which the right one is later than the left one by `lower` at least
  /// and by `upper` at most (api/interval_join.h).
  auto Within(absl::Duration lower, absl::Duration upper) && {
    static_assert(Method::kIsDefault,
                  "glaive: Within() moves records by their keys and has no other way to find pairs: leave out Ship() "
                  "and Local()");
    return MakeIntervalJoin<kKind>(std::move(left_), std::move(right_), std::move(left_key_), std::move(right_key_),
                                   lower, upper);
  }
  template <typename... None>
  WrongOrder Within(absl::Duration /*lower*/, absl::Duration /*upper*/) const& {
    return OfNamedJoin<None...>();
  }

  GLAIVE_GENERIC_STEPS_BEFORE_KEYS(GLAIVE_WRONG_STREAM_STEP,
                                   "comes after Window(...) or Within(...) of a join, which say which records meet")
  GLAIVE_OTHER_STEPS_BEFORE_KEYS(GLAIVE_WRONG_STREAM_STEP,
                                 "comes after Window(...) or Within(...) of a join, which say which records meet")
  GLAIVE_STEPS_WITH_STATE(GLAIVE_WRONG_STREAM_STEP,
                          "comes after Window(...) or Within(...) of a join, which say which records meet")
  GLAIVE_WRONG_STREAM_STEP(KeyBy, "comes after Window(...) or Within(...) of a join, which say which records meet")
  GLAIVE_WRONG_STREAM_STEP(Keep, "comes after Window(...) or Within(...) of a join, which say which records meet")
  GLAIVE_WRONG_STREAM_STEP(To, "comes after Window(...) or Within(...) of a join, which say which records meet")
  GLAIVE_WRONG_STREAM_STEP(LateTo, "comes after Window() of a join")
  GLAIVE_WRONG_STREAM_STEP(AllowedLateness, "comes after Window() of a join")

 private:
  template <typename NextMethod>
  auto By() && {
    return KeyedJoin<kKind, Left, Right, LeftKey, RightKey, NextMethod>(std::move(left_), std::move(right_),
                                                                        std::move(left_key_), std::move(right_key_));
  }

  Left left_;
  Right right_;
  LeftKey left_key_;
  RightKey right_key_;
};

/// After Join.
template <JoinKind kKind, typename Left, typename Right>
class JoinedStreams : public WithoutSink {
 public:
  JoinedStreams(Left left, Right right) : left_(std::move(left)), right_(std::move(right)) {}

  /// What records are joined by: callables or member pointers on those of either stream. Keys are hashed and shipped as
  /// their bytes, so their type, the same of both, has no padding and no pointers.
  template <typename LeftKey, typename RightKey>
  auto On(LeftKey left_key, RightKey right_key) && {
    using LeftRecord = typename Left::Record;
    using RightRecord = typename Right::Record;
    if constexpr (!ExpectValueOf<LeftRecord, LeftKey>() || !ExpectValueOf<RightRecord, RightKey>()) {
      return WrongOrder{};
    } else {
      using KeyOfLeft = ReturnedFor<LeftKey, LeftRecord>;
      using KeyOfRight = ReturnedFor<RightKey, RightRecord>;
      constexpr bool kSame = std::is_same_v<KeyOfLeft, KeyOfRight>;
      ExpectDescribedTexts<KeyOfLeft>();
      constexpr bool kIsKey = state::StateKey<KeyOfLeft>;
      static_assert(kSame,
                    "glaive: On() takes keys of the same type: Map() the records of one stream before, or convert its "
                    "key in a lambda");
      static_assert(!kSame || kIsKey || kHidesText<KeyOfLeft>,
                    "glaive: On() needs keys without padding, pointers or floating-point numbers, and with an "
                    "operator==");
      if constexpr (kSame && kIsKey) {
        return KeyedJoin<kKind, Left, Right, LeftKey, RightKey>(std::move(left_), std::move(right_),
                                                                std::move(left_key), std::move(right_key));
      } else {
        return WrongOrder{};
      }
    }
  }
  GLAIVE_STEP_OF_NAMED_JOIN(On)

  /// Which records meet, whatever their keys: those of which the right one is later than the left one by `lower` at
  /// least and by `upper` at most (api/interval_join.h). All records move to executor 0.
  auto Within(absl::Duration lower, absl::Duration upper) && {
    return MakeIntervalJoin<kKind>(std::move(left_), std::move(right_), OneKeyForAll{}, OneKeyForAll{}, lower, upper);
  }
  template <typename... None>
  WrongOrder Within(absl::Duration /*lower*/, absl::Duration /*upper*/) const& {
    return OfNamedJoin<None...>();
  }

  GLAIVE_GENERIC_STEPS_BEFORE_KEYS(GLAIVE_WRONG_STREAM_STEP,
                                   "comes after On(...) and Window(...) of a join, or after Within(...)")
  GLAIVE_OTHER_STEPS_BEFORE_KEYS(GLAIVE_WRONG_STREAM_STEP,
                                 "comes after On(...) and Window(...) of a join, or after Within(...)")
  GLAIVE_STEPS_WITH_STATE(GLAIVE_WRONG_STREAM_STEP,
                          "comes after On(...) and Window(...) of a join, or after Within(...)")
  GLAIVE_WRONG_STREAM_STEP(KeyBy, "comes after On(...) and Window(...) of a join, or after Within(...)")
  GLAIVE_WRONG_STREAM_STEP(Keep, "comes after On(...) and Window(...) of a join, or after Within(...)")
  GLAIVE_WRONG_ORDER(Window, "glaive: a join needs keys: call On(...) before Window()")
  GLAIVE_WRONG_ORDER(Ship, "glaive: a join needs keys: call On(...) before Ship()")
  GLAIVE_WRONG_ORDER(Local, "glaive: a join needs keys: call On(...) before Local()")
  GLAIVE_WRONG_STREAM_STEP(To, "comes after On(...) and Window(...) of a join, or after Within(...)")

 private:
  Left left_;
  Right right_;
};

/// The join of one kind: the functions below name the kinds.
template <JoinKind kKind, typename Left, typename Right>
auto JoinOfKind(Left left, Right right) {
  static_assert(
      kAreStreams<Left, Right> || kIsAnyRefused<Left, Right>,
      "glaive: a join takes two streams of records; behind KeyBy() and Window() comes Aggregate(...) first, and "
      "behind Join() On(...) and Window(...)");
  if constexpr (kAreStreams<Left, Right>) {
    auto left_input = InputOf(AsStream(std::move(left)));
    auto right_input = InputOf(AsStream(std::move(right)));
    return JoinedStreams<kKind, decltype(left_input), decltype(right_input)>(std::move(left_input),
                                                                             std::move(right_input));
  } else {
    return WrongOrder{};
  }
}

/// Pairs of records of two streams; see the head of this file. Each is a stream, or a join without Keep.
template <typename Left, typename Right>
auto Join(Left left, Right right) {
  return JoinOfKind<JoinKind::kInner>(std::move(left), std::move(right));
}
/// As Join, and a result for each record of the left stream without a partner.
template <typename Left, typename Right>
auto LeftJoin(Left left, Right right) {
  return JoinOfKind<JoinKind::kLeft>(std::move(left), std::move(right));
}
/// As Join, and a result for each record of either stream without a partner.
template <typename Left, typename Right>
auto FullJoin(Left left, Right right) {
  return JoinOfKind<JoinKind::kFull>(std::move(left), std::move(right));
}
/// The records of the left stream that have a partner, each once in a window.
template <typename Left, typename Right>
auto SemiJoin(Left left, Right right) {
  return JoinOfKind<JoinKind::kSemi>(std::move(left), std::move(right));
}
/// The records of the left stream that have no partner, each once in a window.
template <typename Left, typename Right>
auto AntiJoin(Left left, Right right) {
  return JoinOfKind<JoinKind::kAnti>(std::move(left), std::move(right));
}

}  // namespace glaive::engine

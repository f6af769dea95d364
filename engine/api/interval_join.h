// Interval joins in the query API: pairs of records of two streams by how far apart they are in event time.
//
//   Join(a, b)                          also LeftJoin, FullJoin, SemiJoin, AntiJoin
//     .On(key_of_a, key_of_b)           optional: without keys, all records within reach of each other meet
//     .Within(lower, upper)             b's event time minus a's is between these, both included. Either may be
//                                       negative
//     .Keep(part_of_a, part_of_b)       optional, as of other joins
//     .To(sink), or .Map(...) and so on: the results are a stream
//
// What moves: of each record its key and the part that Keep names, to the leader of the key, or without keys to
// executor 0.
//
// A result is a WindowResult as of other joins (api/join.h). Its window spans the records of the pair: it begins with
// the earlier one, and its last millisecond is the later one, which is the result's event time. A pair has a result as
// soon as both records are there. A record without a partner has one once no partner can come any more. A record is
// stored until then. Records that are earlier than the watermark are late, and are counted.
//
//   // The trades of a minute before each alert.
//   std::unique_ptr<Query> query = Join(From(alerts), From(trades))
//       .On(&Alert::symbol, &Trade::symbol)
//       .Within(-absl::Minutes(1), absl::ZeroDuration())
//       .Keep(&Alert::id, &Trade::price)
//       .To(Csv{"suspects.csv"});
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"

#include "engine/api/join_parts.h"
#include "engine/api/keyed_stream.h"
#include "engine/api/stream.h"
#include "engine/api/timed_stream.h"
#include "engine/api/union.h"
#include "engine/api/wrong_order.h"
#include "engine/graph/interval_join_operator.h"
#include "engine/graph/join_rows.h"
#include "rdma/base/check.h"

namespace glaive::engine {

/// After Within.
template <JoinKind kKind, typename Left, typename Right, typename LeftKey, typename RightKey>
class IntervalJoin : public KeptParts<IntervalJoin<kKind, Left, Right, LeftKey, RightKey>, kKind, typename Left::Record,
                                      typename Right::Record> {
 public:
  using LeftRecord = typename Left::Record;
  using RightRecord = typename Right::Record;

  IntervalJoin(Left left, Right right, LeftKey left_key, RightKey right_key, std::int64_t lower_ms,
               std::int64_t upper_ms)
      : left_(std::move(left)),
        right_(std::move(right)),
        left_key_(std::move(left_key)),
        right_key_(std::move(right_key)),
        lower_ms_(lower_ms),
        upper_ms_(upper_ms) {}

  GLAIVE_WRONG_ORDER(AllowedLateness,
                     "glaive: AllowedLateness() is for windows; Within() goes by the watermarks of its streams, which "
                     "a source or WithEventTime(time, bound) holds back")
  GLAIVE_WRONG_ORDER(LateTo, "glaive: LateTo() is for windows; Within() counts late records")
  GLAIVE_WRONG_ORDER(Window, "glaive: a join has Window() or Within(); results are grouped again by KeyBy(...) first")
  GLAIVE_WRONG_ORDER(Aggregate, "glaive: a join has no Aggregate(); group its results by KeyBy(...) first")

 private:
  friend class KeptParts<IntervalJoin, kKind, LeftRecord, RightRecord>;

  /// The stream of the results; see KeptParts.
  template <typename LeftKeep, typename RightKeep>
  auto Keeping(LeftKeep left_keep, RightKeep right_keep) && {
    using K = std::remove_cvref_t<std::invoke_result_t<const LeftKey&, const LeftRecord&>>;
    using LeftPart = typename MakesRecords<LeftKeep, LeftRecord>::Made;
    using RightPart = typename MakesRecords<RightKeep, RightRecord>::Made;
    constexpr bool kFromSource = Left::Origin::kFromSource || Right::Origin::kFromSource;
    using Plan = IntervalJoinPlan<kKind, K, LeftPart, RightPart, kFromSource>;
    using Joined = typename Plan::Record;
    // One stream of both, so that a source that is ahead waits for the other, as at any union.
    auto both =
        Union(Stream<typename Left::Origin, typename Left::Chain>(std::move(left_.origin), std::move(left_.chain))
                  .Map([key = std::move(left_key_), keep = std::move(left_keep)](const LeftRecord& record) {
                    return Joined{.key = std::invoke(key, record), .left = std::invoke(keep, record), .right = {}};
                  }),
              Stream<typename Right::Origin, typename Right::Chain>(std::move(right_.origin), std::move(right_.chain))
                  .Map([key = std::move(right_key_), keep = std::move(right_keep)](const RightRecord& record) {
                    return Joined{.key = std::invoke(key, record), .left = {}, .right = std::invoke(keep, record)};
                  }));
    auto moved = [&both] {
      if constexpr (std::is_same_v<K, AllRecords>) {
        return std::move(both).OnExecutors(1);
      } else {
        return std::move(both).KeyBy(KeyOfJoined{}).Partition().DropKey();
      }
    }();
    auto origin = OriginOf<decltype(moved)::Origin::kFromSource, /*kHasTime=*/true, Joined>(std::move(moved).Timed());
    using Origin = decltype(origin);
    return StreamOf</*kFromSource=*/false, /*kHasTime=*/true, typename Plan::Row>(
        std::make_shared<const IntervalJoinVertex<Origin, Plan>>(std::move(origin),
                                                                 Plan{.lower_ms = lower_ms_, .upper_ms = upper_ms_}));
  }

  Left left_;
  Right right_;
  LeftKey left_key_;
  RightKey right_key_;
  std::int64_t lower_ms_;
  std::int64_t upper_ms_;
};

/// A bound of Within in milliseconds. The bound has whole ones, and is 1,000 years at most, else the process ends with
/// a message.
inline std::int64_t WholeBound(absl::Duration bound) {
  const std::int64_t millis = absl::ToInt64Milliseconds(bound);
  const absl::Duration most = absl::Hours(24 * 365 * 1'000);
  GLAIVE_CHECK(absl::Milliseconds(millis) == bound && absl::AbsDuration(bound) <= most, "Within(): a bound of ",
               absl::FormatDuration(bound), "; it must be whole milliseconds, and at most 1,000 years");
  return millis;
}

/// The join behind Within(). `lower` is at most `upper`, else the process ends with a message.
template <JoinKind kKind, typename Left, typename Right, typename LeftKey, typename RightKey>
auto MakeIntervalJoin(Left left, Right right, LeftKey left_key, RightKey right_key, absl::Duration lower,
                      absl::Duration upper) {
  constexpr bool kHaveTime = Left::Origin::kHasTime && Right::Origin::kHasTime;
  static_assert(kHaveTime,
                "glaive: Within() compares event times, which a stream of this join does not have; give it some by "
                "WithEventTime(time)");
  if constexpr (kHaveTime) {
    GLAIVE_CHECK(lower <= upper, "Within(", absl::FormatDuration(lower), ", ", absl::FormatDuration(upper),
                 "): the first bound is greater than the second one");
    return IntervalJoin<kKind, Left, Right, LeftKey, RightKey>(std::move(left), std::move(right), std::move(left_key),
                                                               std::move(right_key), WholeBound(lower),
                                                               WholeBound(upper));
  } else {
    return WrongOrder{};
  }
}

}  // namespace glaive::engine

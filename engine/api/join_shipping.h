// Ship and Local of joins: how records that may make a pair come to one executor, and how it finds the pairs.
//
//   .Ship(...)              what moves                                            where the results are
//   left out                keys and kept parts, as changes of state (late merge)  at the leaders of the keys
//   .Ship(BothByKey{})      keys and kept parts of both streams, by an exchange    at the leaders of the keys
//   .Ship(RightToAll{})     those of the right stream, to every executor           where the left records are
//
//   .Local(HashJoin{})      a hash table of one side, in which the other one is probed. The default
//   .Local(SortMerge{})     both sides sorted by the hashes of their keys. Without windows, at the end of the stream
//
// RightToAll is for a small right stream: the left one, however large, stays where it is, and the results of a key lie
// on several executors. FullJoin and sessions have no RightToAll. Sessions have no SortMerge, and Within has neither
// Ship nor Local.
//
// With LateTo, an exchange moves whole records, since the sink of late records shows them whole. With RightToAll, each
// executor counts its copy of a right record: as accepted, or as late, and then writes it to the sink.
//
//   Join(From(trades), From(rates)).On(&Trade::currency, &Rate::currency).Ship(RightToAll{}).Window(Tumbling{...})
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "engine/api/join_parts.h"
#include "engine/api/keyed_stream.h"
#include "engine/api/timed_stream.h"
#include "engine/exchange/routes.h"
#include "engine/stage/join_plan.h"
#include "engine/stage/stage_scope.h"
#include "engine/steps/steps.h"

namespace glaive::engine {

struct LateMerge {};
struct BothByKey {};
struct RightToAll {};

/// What Ship and Local say.
template <typename ShipT = LateMerge, typename LocalT = HashJoin>
struct JoinMethod {
  using Ship = ShipT;
  using Local = LocalT;
  static constexpr bool kIsDefault = std::is_same_v<Ship, LateMerge> && std::is_same_v<Local, HashJoin>;
  static constexpr StageScope kScope = std::is_same_v<Ship, LateMerge>   ? StageScope::kAllExecutors
                                       : std::is_same_v<Ship, BothByKey> ? StageScope::kOwnExecutor
                                                                         : StageScope::kOwnState;
};

/// The kept part of a record that an exchange has moved with its key, as a KeyedRecord.
struct PartOfKeyed {
  template <typename Keyed>
  const auto& operator()(const Keyed& keyed) const {
    return keyed.record;
  }
};

/// One of the streams of a join where its records meet those of the other one, with their keys and kept parts.
template <typename Origin, typename Chain, typename Key, typename Keep>
struct ShippedSide {
  Origin origin;
  Chain chain;
  Key key;
  Keep keep;
};

/// Without an exchange.
template <typename Input, typename Key, typename Keep>
auto UnmovedSide(Input input, Key key, Keep keep) {
  return ShippedSide<typename Input::Origin, typename Input::Chain, Key, Keep>{
      std::move(input.origin), std::move(input.chain), std::move(key), std::move(keep)};
}

/// Moved by an exchange, whose route is made by `route_by(key)`: whole records, or of each its key and kept part.
template <bool kWhole, typename Input, typename Key, typename Keep, typename RouteFn>
auto MovedSide(Input input, Key key, Keep keep, const RouteFn& route_by) {
  using Record = typename Input::Record;
  if constexpr (kWhole) {
    auto origin = Exchanged(std::move(input.origin), std::move(input.chain), route_by(key));
    return ShippedSide<decltype(origin), Untimed<Record>, Key, Keep>{
        std::move(origin), {}, std::move(key), std::move(keep)};
  } else {
    using K = std::remove_cvref_t<std::invoke_result_t<const Key&, const Record&>>;
    using Part = std::remove_cvref_t<std::invoke_result_t<const Keep&, const Record&>>;
    const auto take = [key = std::move(key), keep = std::move(keep)](const Record& record) {
      return KeyedRecord<K, Part>{.key = std::invoke(key, record), .record = std::invoke(keep, record)};
    };
    using Taken = MapStep<typename Input::Chain, std::remove_const_t<decltype(take)>>;
    auto origin = Exchanged(std::move(input.origin), Taken{std::move(input.chain), take}, route_by(KeyOfJoined{}));
    return ShippedSide<decltype(origin), Untimed<KeyedRecord<K, Part>>, KeyOfJoined, PartOfKeyed>{
        std::move(origin), {}, {}, {}};
  }
}

/// The left or the right side of a join, moved as `Ship` says.
template <typename Ship, bool kIsLeft, bool kWhole, typename Input, typename Key, typename Keep>
auto ShippedBy(Input input, Key key, Keep keep) {
  if constexpr (std::is_same_v<Ship, BothByKey>) {
    return MovedSide<kWhole>(std::move(input), std::move(key), std::move(keep),
                             [](auto by) { return ByKey<decltype(by)>{std::move(by)}; });
  } else if constexpr (std::is_same_v<Ship, RightToAll> && !kIsLeft) {
    return MovedSide<kWhole>(std::move(input), std::move(key), std::move(keep), [](const auto&) { return ToAll{}; });
  } else {
    return UnmovedSide(std::move(input), std::move(key), std::move(keep));
  }
}

}  // namespace glaive::engine

// JoinPlan: the types and functions of a windowed equi-join of two streams, as the query API collects them.
//
// Immutable and shared by the executors of a process. A StageInput is made of each side of it, as of an
// AggregationPlan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>

#include "engine/graph/join_rows.h"
#include "engine/sink/late_record.h"
#include "engine/sink/sink.h"
#include "engine/stage/stage_scope.h"
#include "engine/window/window_spec.h"
#include "state/crdt/appended.h"
#include "state/store/partitioned_store.h"

namespace glaive::engine {

/// A tuple and its event time: what sessions are cut by.
template <typename T>
struct Timed {
  using Members = std::tuple<std::int64_t, T>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.tuple);
  }

  std::int64_t time_ms = 0;
  T tuple{};
};

/// One of the two streams. `OriginT` is one of api/origin.h, `ChainT` a Step from its records; `KeyT` and `KeepT` are
/// callables or member pointers on what the chain emits: the key, and what is kept of a record. `kHasLateSinkT` says
/// whether late records go to a sink.
template <typename OriginT, typename ChainT, typename KeyT, typename KeepT, typename WindowT, bool kHasLateSinkT>
struct JoinSide {
  using Chain = ChainT;
  using Input = typename ChainT::In;
  using Record = typename ChainT::Out;
  using Key = std::remove_cvref_t<std::invoke_result_t<const KeyT&, const Record&>>;
  using Tuple = std::remove_cvref_t<std::invoke_result_t<const KeepT&, const Record&>>;
  static constexpr bool kTimed = std::is_same_v<WindowT, Session>;
  using Kept = std::conditional_t<kTimed, Timed<Tuple>, Tuple>;
  using Store = state::PartitionedStore<Key, state::Appended<Kept>>;
  static constexpr bool kHasLateSink = kHasLateSinkT;
  static constexpr bool kFromSource = OriginT::kFromSource;
  static constexpr std::size_t kEntriesOfRecord = 1;

  /// Pairs without windows are results at once, unless both sides are sorted first.
  bool has_results_at_end() const { return all_at_end; }

  Key MakeKey(const Record& record) const { return std::invoke(key, record); }
  Kept MakeInput(const Record& record, std::int64_t event_time_ms) const {
    if constexpr (kTimed) {
      return {.time_ms = event_time_ms, .tuple = std::invoke(keep, record)};
    } else {
      return std::invoke(keep, record);
    }
  }

  /// For errors about texts that are too long.
  static state::TextNames text_names() { return {.key = "the key of On()", .value = "the kept part of a record"}; }

  OriginT origin;
  ChainT chain;
  KeyT key;
  KeepT keep;
  std::int64_t allowed_lateness_ms = 0;                 // by which watermarks are held back
  SinkFactory<LateRecord<Record>> late_sink = nullptr;  // null unless kHasLateSink
  StageScope scope = StageScope::kAllExecutors;
  bool all_at_end = false;  // whether no result comes before the end of the stream
};

/// How an executor finds the pairs of the tuples that it has: by a hash table, or by sorting both sides.
struct HashJoin {};
struct SortMerge {};

/// Both sides have the same key, window and scope. `LocalT` is HashJoin or SortMerge.
template <typename LeftT, typename RightT, typename WindowT, JoinKind kKind, typename LocalT>
struct JoinPlan {
  using Left = LeftT;
  using Right = RightT;
  using Window = WindowT;
  using Local = LocalT;
  using GroupKey = typename Left::Key;
  using Rows = JoinRows<kKind, typename Left::Tuple, typename Right::Tuple>;
  using Result = typename Rows::Result;
  using Row = WindowResult<GroupKey, Result>;
  static constexpr std::size_t kRowWork = sizeof(Row);
  static constexpr bool kTimedTuples = false;  // the event times of a session's tuples are not needed beyond its slices

  Left left;
  Right right;
  WindowT window;
};

}  // namespace glaive::engine

// AggregationPlan: the types and parts of a keyed, windowed aggregation, as the query API collects them.
//
// Immutable and shared by the executors of a process.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "engine/sink/late_record.h"
#include "engine/sink/sink.h"
#include "engine/source/source.h"
#include "engine/window/window_spec.h"
#include "state/crdt/crdt.h"
#include "state/crdt/session_part.h"
#include "state/store/partitioned_store.h"

namespace glaive::engine {

/// `SpecT` is a SourceSpec, `ChainT` a Step from its records, `KeyT` a callable or member pointer on what the chain
/// emits, `WindowT` one of window_spec.h, `AggregateT` an aggregate of it (api/aggregates.h). `KeepsLateT` says whether
/// late records go to a sink.
template <typename SpecT, typename ChainT, typename KeyT, typename WindowT, typename AggregateT,
          bool KeepsLateT = false>
struct AggregationPlan {
  using Input = typename ChainT::In;
  using Record = typename ChainT::Out;
  using Window = WindowT;
  using Key = std::remove_cvref_t<std::invoke_result_t<const KeyT&, const Record&>>;
  using Aggregated = typename AggregateT::template Value<Record>;
  using Value = std::conditional_t<std::is_same_v<WindowT, Session>, state::SessionPart<Aggregated>, Aggregated>;
  using Result = decltype(std::declval<const Value&>().Result());
  using Row = WindowResult<Key, Result>;
  static constexpr bool kKeepsLate = KeepsLateT;
  using Store = state::PartitionedStore<Key, Value>;

  /// What the state takes of a record that the chain has emitted.
  typename Value::Input MakeInput(const Record& record, std::int64_t event_time_ms) const {
    if constexpr (std::is_same_v<WindowT, Session>) {
      return {.time_ms = event_time_ms, .input = aggregate.Input(record)};
    } else {
      return aggregate.Input(record);
    }
  }

  SpecT source;
  ChainT chain;
  KeyT key;
  WindowT window;
  std::int64_t allowed_lateness_ms = 0;  // by which watermarks are held back
  AggregateT aggregate;
  SinkFactory<Row> sink;
  SinkFactory<LateRecord<Record>> late_sink = nullptr;  // null unless kKeepsLate
};

}  // namespace glaive::engine

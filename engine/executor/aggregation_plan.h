// AggregationPlan: the types and parts of a keyed, windowed aggregation, as the query API collects them.
//
// Immutable and shared by the executors of a process.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "engine/sink/sink.h"
#include "engine/source/source.h"
#include "engine/window/window_spec.h"
#include "state/crdt/crdt.h"
#include "state/store/partitioned_store.h"

namespace glaive::engine {

/// `SpecT` is a SourceSpec, `ChainT` a Step from its records, `KeyT` a callable or member pointer on what the chain
/// emits, `WindowT` one of window_spec.h, `AggregateT` an aggregate of it (api/aggregates.h).
template <typename SpecT, typename ChainT, typename KeyT, typename WindowT, typename AggregateT>
struct AggregationPlan {
  using Input = typename ChainT::In;
  using Record = typename ChainT::Out;
  using Window = WindowT;
  using Key = std::remove_cvref_t<std::invoke_result_t<const KeyT&, const Record&>>;
  using Value = typename AggregateT::template Value<Record>;
  using Result = decltype(std::declval<const Value&>().Result());
  using Row = WindowResult<Key, Result>;
  using Store = state::PartitionedStore<Key, Value>;

  SpecT source;
  ChainT chain;
  KeyT key;
  WindowT window;
  std::int64_t allowed_lateness_ms = 0;  // by which watermarks are held back
  AggregateT aggregate;
  SinkFactory<Row> sink;
};

}  // namespace glaive::engine

// AggregationPlan: the types and parts of a keyed, windowed aggregation, as the query API collects them.
//
// Immutable and shared by the executors of a process.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "engine/sink/sink.h"
#include "engine/source/source.h"
#include "engine/window/tumbling.h"
#include "state/crdt/crdt.h"
#include "state/store/partitioned_store.h"

namespace glaive::engine {

/// `SpecT` is a SourceSpec, `ChainT` a Step from its records, `KeyT` a callable or member pointer on what the chain
/// emits, `AggregateT` an aggregate of it (api/aggregates.h).
template <typename SpecT, typename ChainT, typename KeyT, typename AggregateT>
struct AggregationPlan {
  using Input = typename ChainT::In;
  using Record = typename ChainT::Out;
  using Key = std::remove_cvref_t<std::invoke_result_t<const KeyT&, const Record&>>;
  using Value = typename AggregateT::template Value<Record>;
  using Result = decltype(std::declval<const Value&>().Result());
  using Row = WindowResult<Key, Result>;
  using Store = state::PartitionedStore<Key, Value>;

  SpecT source;
  ChainT chain;
  KeyT key;
  Tumbling window;
  AggregateT aggregate;
  SinkFactory<Row> sink;
};

}  // namespace glaive::engine

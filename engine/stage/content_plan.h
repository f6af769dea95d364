// ContentPlan: the types and parts of a function of all records of a window of event time, as the query API collects
// them.
//
// Immutable and shared by the executors of a process. Its input is that of an append set, as one side of a join.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "engine/graph/window_contents.h"
#include "engine/sink/late_record.h"
#include "engine/sink/sink.h"
#include "engine/stage/join_plan.h"
#include "engine/stage/stage_scope.h"
#include "engine/window/window_spec.h"
#include "state/crdt/appended.h"
#include "state/store/partitioned_store.h"

namespace glaive::engine {

/// `OriginT` is one of api/origin.h, `ChainT` a Step from its records, `KeyT` a callable or member pointer on what the
/// chain emits. `kHasLateSinkT` says whether late records go to a sink.
template <typename OriginT, typename ChainT, typename KeyT, bool kHasLateSinkT>
struct ContentInput {
  using Chain = ChainT;
  using Input = typename ChainT::In;
  using Record = typename ChainT::Out;
  using Key = std::remove_cvref_t<std::invoke_result_t<const KeyT&, const Record&>>;
  using Tuple = Timed<Record>;
  using Store = state::PartitionedStore<Key, state::Appended<Tuple>>;
  static constexpr bool kHasLateSink = kHasLateSinkT;
  static constexpr bool kFromSource = OriginT::kFromSource;
  static constexpr std::size_t kEntriesOfRecord = 1;

  /// Windows of event time end before the stream does.
  static constexpr bool has_results_at_end() { return false; }

  Key MakeKey(const Record& record) const { return std::invoke(key, record); }
  Tuple MakeInput(const Record& record, std::int64_t event_time_ms) const {
    return {.time_ms = event_time_ms, .tuple = record};
  }

  /// For errors about texts that are too long.
  static state::TextNames text_names() { return {.key = "the key of KeyBy()", .value = "the record"}; }

  OriginT origin;
  ChainT chain;
  KeyT key;
  std::int64_t allowed_lateness_ms = 0;                 // by which watermarks are held back
  SinkFactory<LateRecord<Record>> late_sink = nullptr;  // null unless kHasLateSink
  StageScope scope = StageScope::kAllExecutors;
};

/// `InputT` is a ContentInput, `WindowT` Tumbling, Sliding or Session, `FunctionT` what Process takes.
template <typename InputT, typename WindowT, typename FunctionT>
struct ContentPlan {
  using Input = InputT;
  using Left = InputT;  // what sessions of joins have two of
  using Right = InputT;
  using Window = WindowT;
  using GroupKey = typename InputT::Key;
  using Record = typename InputT::Record;
  using Result = ProcessValue<FunctionT, GroupKey, TimeWindow, Record>;
  using Row = WindowResult<GroupKey, Result>;
  static constexpr std::size_t kRowWork = sizeof(Row);
  static constexpr bool kTimedTuples = true;

  InputT input;
  WindowT window;
  FunctionT function;
};

}  // namespace glaive::engine

// AggregationPlan: the types and functions of an aggregation by key and window, as the query API collects them.
//
// Immutable and shared by the executors of a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/sink/late_record.h"
#include "engine/sink/sink.h"
#include "engine/stage/stage_scope.h"
#include "engine/steps/aggregates.h"
#include "engine/window/window_spec.h"
#include "engine/window/windows.h"
#include "state/crdt/crdt.h"
#include "state/crdt/element_total.h"
#include "state/crdt/session_part.h"
#include "state/index/element_key.h"
#include "state/index/numbered_element.h"
#include "state/store/partitioned_store.h"
#include "state/store/state_kind.h"
#include "state/store/window_table.h"

namespace glaive::engine {

/// What the state stores for an aggregate of records of type R, grouped by keys of type K: a value for each key.
template <typename AggregateT, typename R, typename K>
struct StoredState {
  using Key = K;
  using Value = typename AggregateT::template Value<R>;
  using Result = decltype(std::declval<const Value&>().Result());

  /// How many entries a record updates.
  static constexpr std::size_t kEntriesOfRecord = 1;

  template <std::size_t /*kEntry*/>
  static Key MakeKey(const AggregateT& /*aggregate*/, const K& key, const R& /*record*/) {
    return key;
  }
  template <std::size_t /*kEntry*/>
  static auto MakeInput(const AggregateT& aggregate, const R& record) {
    return aggregate.Input(record);
  }
};
/// Of distinct elements, an entry for each element of each key (distinct_results.h sums them up).
template <typename AggregateT, typename R, typename K>
  requires(kDistincts<AggregateT> == 1)
struct StoredState<AggregateT, R, K> {
  using Element = decltype(ElementOf<0>(std::declval<const AggregateT&>(), std::declval<const R&>()));
  using Key = state::ElementKey<K, Element>;
  using Value = state::UnfinishedValue<typename AggregateT::template Value<R>>;
  using Total = state::ElementTotal<typename AggregateT::template Value<R>>;
  using Result = decltype(std::declval<const typename Total::Type&>().Result());

  static constexpr std::size_t kEntriesOfRecord = 1;

  template <std::size_t kEntry>
  static Key MakeKey(const AggregateT& aggregate, const K& key, const R& record) {
    return Key(key, ElementOf<kEntry>(aggregate, record));
  }
  template <std::size_t /*kEntry*/>
  static auto MakeInput(const AggregateT& aggregate, const R& record) {
    return aggregate.Input(record);
  }
  /// Of which Distinct the element of a key is.
  static std::integral_constant<std::size_t, 0> NumberOf(const Key& /*key*/) { return {}; }
};

/// The elements of all Distinct of an aggregate, as one type.
template <typename AggregateT, typename R, typename Numbers = std::make_index_sequence<kDistincts<AggregateT>>>
struct ElementsOfAll;
template <typename AggregateT, typename R, std::size_t... kNumbers>
struct ElementsOfAll<AggregateT, R, std::index_sequence<kNumbers...>> {
  using Element = state::NumberedElement<decltype(ElementOf<kNumbers>(std::declval<const AggregateT&>(),
                                                                      std::declval<const R&>()))...>;
};

/// Of several Distinct, such entries of each. A record updates one entry of each Distinct, and the values that stand
/// beside them in the entry of the first.
template <typename AggregateT, typename R, typename K>
  requires(kDistincts<AggregateT> > 1)
struct StoredState<AggregateT, R, K> {
  using Element = typename ElementsOfAll<AggregateT, R>::Element;
  using Key = state::ElementKey<K, Element>;
  using Value = state::UnfinishedValue<state::OncePerRecord<typename AggregateT::template Value<R>>>;
  using Total = state::ElementTotal<typename AggregateT::template Value<R>>;
  using Result = decltype(std::declval<const typename Total::Type&>().Result());

  static constexpr std::size_t kEntriesOfRecord = kDistincts<AggregateT>;

  template <std::size_t kEntry>
  static Key MakeKey(const AggregateT& aggregate, const K& key, const R& record) {
    return Key(key, Element::template Of<kEntry>(ElementOf<kEntry>(aggregate, record)));
  }
  template <std::size_t kEntry>
  static typename Value::Input MakeInput(const AggregateT& aggregate, const R& record) {
    if constexpr (kEntry == 0) {
      return {.counts = true, .input = aggregate.Input(record)};
    } else {
      return {};
    }
  }
  static std::size_t NumberOf(const Key& key) { return key.element().number(); }
};

/// `OriginT` is one of api/origin.h, `ChainT` a Step from its records, `KeyT` a callable or member pointer on what the
/// chain emits, `WindowT` one of window_spec.h, `AggregateT` an aggregate of it (steps/aggregates.h). `kHasLateSinkT`
/// says whether late records go to a sink.
template <typename OriginT, typename ChainT, typename KeyT, typename WindowT, typename AggregateT,
          bool kHasLateSinkT = false>
struct AggregationPlan {
  using Chain = ChainT;
  using Input = typename ChainT::In;
  using Record = typename ChainT::Out;
  using Window = WindowT;
  using GroupKey = std::remove_cvref_t<std::invoke_result_t<const KeyT&, const Record&>>;
  using Stored = StoredState<AggregateT, Record, GroupKey>;
  using Key = typename Stored::Key;  // of the state
  using Value = std::conditional_t<std::is_same_v<WindowT, Session>, state::SessionPart<typename Stored::Value>,
                                   typename Stored::Value>;
  using Result = typename Stored::Result;
  using Row = WindowResult<GroupKey, Result>;
  static constexpr bool kDistinct = !std::is_same_v<Key, GroupKey>;
  static constexpr bool kHasLateSink = kHasLateSinkT;
  static constexpr bool kFromSource = OriginT::kFromSource;
  static constexpr std::size_t kRowWork = sizeof(Value);  // what a result takes to make grows with it
  /// Records are folded into slices that are then read once, as a whole, unless windows slide.
  static constexpr bool kReadOnce = !std::is_same_v<WindowT, Sliding>;
  using Table = std::conditional_t<kReadOnce && state::kFitsCells<Key, Value>, state::WindowTable<Key, Value>,
                                   typename state::StateKind<Key, Value>::Table>;
  using Store = state::PartitionedStore<Key, Value, Table>;

  static constexpr std::size_t kEntriesOfRecord = Stored::kEntriesOfRecord;

  /// Where in the state a record belongs that the chain has emitted: the key of its entry number `kEntry`.
  template <std::size_t kEntry = 0>
  Key MakeKey(const Record& record) const {
    return Stored::template MakeKey<kEntry>(aggregate, std::invoke(key, record), record);
  }

  /// What that entry takes of it.
  template <std::size_t kEntry = 0>
  typename Value::Input MakeInput(const Record& record, std::int64_t event_time_ms) const {
    if constexpr (std::is_same_v<WindowT, Session>) {
      return {.time_ms = event_time_ms, .input = Stored::template MakeInput<kEntry>(aggregate, record)};
    } else {
      return Stored::template MakeInput<kEntry>(aggregate, record);
    }
  }

  /// Whether no result is due before the end of the stream.
  bool has_results_at_end() const { return Windows(window).has_one_window(); }

  /// For errors about texts that are too long.
  state::TextNames text_names() const {
    return {.key = "the key of KeyBy()", .value = absl::StrCat("the value of ", AggregateName(aggregate))};
  }

  OriginT origin;
  ChainT chain;
  KeyT key;
  WindowT window;
  std::int64_t allowed_lateness_ms = 0;  // by which watermarks are held back
  AggregateT aggregate;
  SinkFactory<LateRecord<Record>> late_sink = nullptr;  // null unless kHasLateSink
  StageScope scope = StageScope::kAllExecutors;
};

}  // namespace glaive::engine

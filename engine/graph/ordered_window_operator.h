// OrderedWindowOperator: windows by the order of each key's records (engine/window/ordered_windows.h), on one executor.
//
//    producer ── Batch ──► key's open window ── it is complete ──► row ──► buffer ── Batch ──► consumers
//             ── Watermark, Idle, Active ──────────────────────────────────── the same ──────►
//             ── EndOfStream ──► a row of each key's oldest open window ────► EndOfStream
//
// What moves: each record, to the leader of its key, by the exchange in front of the operator. It brings the records of
// one executor in their order, and those of two executors in any order. The operator itself moves nothing. The state of
// a key is the oldest window that is open: the values of its parts, or its records, in blocks of the executor's state
// (state/store/fifo.h). They count against its budget (invariant I6). A window that is complete gives back what the
// next one does not share.
//
// A row has the event time of its window's last record, or of the watermark if that is later. So no row is late.
//
// A turn is bounded: it ends after StateThresholds::entries_per_turn records or keys. The function of a window is
// called once, however many records there are.
//
// Owned by the executor's task, used by its thread alone. OrderedWindowVertex is its part of the query's graph.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/base/event_time.h"
#include "engine/base/take_first.h"
#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/described_state.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/graph/window_contents.h"
#include "engine/sink/sink.h"
#include "engine/window/ordered_windows.h"
#include "state/log/value_texts.h"
#include "state/store/fifo.h"
#include "state/store/run_groups.h"
#include "state/store/slice_table.h"
#include "state/store/small_blocks.h"

namespace glaive::engine {

/// What a query says of it. `WindowsT` is CountWindows or TransactionWindows, `ContentsT` one of window_contents.h.
template <typename R, typename KeyT, typename WindowsT, typename ContentsT, bool kFromSourceT>
struct OrderedWindowPlan {
  using Record = R;
  using Key = std::remove_cvref_t<std::invoke_result_t<const KeyT&, const R&>>;
  using Element = typename ContentsT::Element;
  using Row = NumberedResult<Key, typename ContentsT::Value>;
  static constexpr bool kHasParts = ContentsT::kHasParts;
  static constexpr bool kFromSource = kFromSourceT;

  KeyT key;
  WindowsT windows;
  ContentsT contents;
};

/// `Plan` is an OrderedWindowPlan.
template <typename Plan>
class OrderedWindowOperator final : public TimedOperator<TimedRecord<typename Plan::Record>, typename Plan::Row>,
                                    public DescribedState {
 public:
  using In = TimedRecord<typename Plan::Record>;
  using Row = typename Plan::Row;

  /// Opens the table. Both outlive the operator.
  static absl::StatusOr<std::unique_ptr<OrderedWindowOperator>> Open(const Plan& plan, TaskContext& context) {
    absl::StatusOr<Table> table = Table::Create(*context.memory, /*expected_keys=*/0);
    if (!table.ok()) {
      return absl::Status(table.status().code(),
                          absl::StrCat(table.status().message(), "; the ", plan.windows.Describe()));
    }
    return std::unique_ptr<OrderedWindowOperator>(new OrderedWindowOperator(plan, context, *std::move(table)));
  }

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    const Stretch stretch{.read_ns = batch.read_ns};
    records_ += batch.records.size();
    for (std::span<const In> rest = batch.records; !rest.empty();) {
      const std::span<const In> group = TakeFirst(rest, items_.size());
      TakeGroup(fiber, stretch, batch.event_time_shift_ms, group);
      this->CountWork(fiber, stretch, group.size());
    }
    this->HandOn(fiber, stretch);
  }

  void On(Fiber& fiber, const Control& control) override {
    if (std::holds_alternative<EndOfStream>(control)) {
      EmitOpenWindows(fiber);
      counts_ = table_.counts();
      table_.Release(*context_->memory);
      blocks_.ReleaseAll(*context_->memory);
      texts_.Release(*context_->memory);
    }
    output().Emit(fiber, control);
  }

  void Measure() override {
    ExecutorMetrics& metrics = *context_->metrics;
    state::TableCounts& tables = metrics;
    tables += counts_;
    metrics.records_accepted += Plan::kFromSource ? records_ : 0;
    metrics.windows_fired += complete_ + incomplete_;
    metrics.windows_fired_early += complete_;
  }

  std::string Describe() const override {
    return absl::StrCat("the ", plan_->windows.Describe(), " store ", table_.size(), " keys of ",
                        sizeof(typename Table::Entry), " bytes and ", elements_, " ",
                        Plan::kHasParts ? "values of parts" : "records", " of ", sizeof(Element), " bytes");
  }

 private:
  using Key = typename Plan::Key;
  using Element = typename Plan::Element;
  /// The oldest window of a key that is open.
  struct OpenWindow {
    std::uint64_t number = 0;
    std::uint64_t records = 0;
    std::int64_t last_ms = kMinEventTimeMs;  // the last record's event time
    state::Fifo<Element> elements;
  };
  using Table = state::SliceTable<Key, OpenWindow>;
  using Stretch = typename TimedProducer<Row>::Stretch;
  using TimedOperator<In, Row>::output;
  /// A record and its key, as Table::Apply takes them.
  struct Item {
    std::uint64_t hash;
    Key key;
    const In* timed;
  };

  OrderedWindowOperator(const Plan& plan, TaskContext& context, Table table)
      : TimedOperator<In, Row>(context), plan_(&plan), context_(&context), table_(std::move(table)) {}

  /// States stay where they are while consumers suspend the fiber: nothing else changes the table.
  void TakeGroup(Fiber& fiber, const Stretch& stretch, std::int64_t shift_ms, std::span<const In> group) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Key key = std::invoke(plan_->key, group[i].record);
      items_[i] = Item{.hash = context_->memory->key_hash()(key), .key = key, .timed = &group[i]};
    }
    const absl::Status status = table_.Apply(
        *context_->memory, std::span<const Item>(items_.data(), group.size()), [&](OpenWindow& open, const Item& item) {
          TakeRecord(fiber, stretch, item.key, open, item.timed->record, item.timed->event_time_ms + shift_ms);
        });
    context_->Require(fiber, Explain(status));
  }

  void TakeRecord(Fiber& fiber, const Stretch& stretch, const Key& key, OpenWindow& open,
                  const typename Plan::Record& record, std::int64_t event_time_ms) {
    const InTransaction kind = plan_->windows.KindOf(record, open.records);
    if (kind == InTransaction::kOpens && open.records > 0) {
      Complete(fiber, stretch, key, open);
    }
    if (kind == InTransaction::kCancels) {
      Forget(open);
    }
    if (kind == InTransaction::kCancels || (kind == InTransaction::kIsInside && open.records == 0)) {
      return;
    }
    context_->Require(fiber, Explain(AddTo(open, record)));
    ++open.records;
    open.last_ms = event_time_ms;
    if (kind == InTransaction::kCloses) {
      Complete(fiber, stretch, key, open);
    }
  }

  absl::Status AddTo(OpenWindow& open, const typename Plan::Record& record) {
    const auto push = [&](const Element& element) {
      ++elements_;
      return open.elements.Push(*context_->memory, blocks_, element);
    };
    if constexpr (Plan::kHasParts) {
      absl::Status status = plan_->windows.BeginsPart(open.records) ? push(Element()) : absl::OkStatus();
      if (status.ok()) {
        status = texts_.Change(*context_->memory, open.elements.back(), state::Age::kKnown,
                               [&](Element& part) { plan_->contents.Add(part, record); });
      }
      return status;
    } else {
      absl::Status status = push(record);
      if (status.ok()) {
        status = texts_.Change(*context_->memory, open.elements.back(), state::Age::kNew, [](Element& /*record*/) {});
      }
      return status;
    }
  }

  /// Makes the rows of a window that is complete, and goes on with the next one.
  void Complete(Fiber& fiber, const Stretch& stretch, const Key& key, OpenWindow& open) {
    ++complete_;
    EmitRows(fiber, stretch, key, open);
    ++open.number;
    open.records -= std::min(open.records, plan_->windows.records_of_slide());
    const std::uint64_t of_slide =
        Plan::kHasParts ? plan_->windows.parts_of_slide() : plan_->windows.records_of_slide();
    Pop(open, std::min(open.elements.size(), of_slide));
  }

  void Forget(OpenWindow& open) {
    open.records = 0;
    Pop(open, open.elements.size());
  }
  void Pop(OpenWindow& open, std::uint64_t elements) {
    elements_ -= elements;
    for (const Element& element : open.elements.elements().first(elements)) {
      texts_.Drop(element);
    }
    open.elements.Pop(*context_->memory, blocks_, elements);
  }

  void EmitRows(Fiber& fiber, const Stretch& stretch, const Key& key, const OpenWindow& open) {
    plan_->contents.Make(key, NumberedWindow{.number = open.number}, open.elements.elements(), [&](auto value) {
      this->Add(fiber, stretch, std::max(open.last_ms, output().watermark_ms()),
                Row{.window = open.number, .records = open.records, .key = key, .value = std::move(value)});
    });
  }

  void EmitOpenWindows(Fiber& fiber) {
    const std::int64_t now_ns = context_->clock->NowNanos();
    const Stretch stretch{.read_ns = now_ns};
    for (std::uint32_t i = 0; i < table_.size(); ++i) {
      auto& [key, open] = table_.At(i);
      if (open.records > 0) {
        if (output().idle()) {
          output().Emit(fiber, Active{.now_ns = now_ns});
        }
        ++incomplete_;
        EmitRows(fiber, stretch, key, open);
        Forget(open);
      }
      this->CountWork(fiber, stretch);
    }
    this->HandOn(fiber, stretch);
  }

  const Plan* plan_;
  TaskContext* context_;
  Table table_;
  state::SmallBlocks blocks_;
  [[no_unique_address]] state::ValueTexts<Element> texts_;  // of all elements
  state::TableCounts counts_;                               // of the table, once it has been released
  std::uint64_t records_ = 0;
  std::uint64_t elements_ = 0;    // of all keys
  std::uint64_t complete_ = 0;    // windows, before the end of the stream
  std::uint64_t incomplete_ = 0;  // windows at the end
  std::array<Item, state::kGroupSize> items_;
};

/// `Origin` is a TimedOrigin, of an exchange by the plan's key.
template <typename Origin, typename Plan>
class OrderedWindowVertex final : public TimedVertex<Origin, typename Plan::Row> {
 public:
  OrderedWindowVertex(Origin origin, Plan plan)
      : TimedVertex<Origin, typename Plan::Row>(std::move(origin)), plan_(std::move(plan)) {}

  bool adds_past_results() const override { return this->origin().vertex->adds_past_results(); }
  std::string_view why_not_in_loops() const override {
    return "a window by the order of records in the body of a loop would span iterations: Window(EachIteration()) is "
           "of one";
  }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    const std::string whose = std::is_same_v<typename Plan::Key, AllRecords>
                                  ? "of all records"
                                  : absl::StrCat("of each key of ", sizeof(typename Plan::Key), " bytes");
    return {.kind = "windows by order",
            .facts = {absl::StrCat(plan_.windows.Describe(), " ", whose),
                      absl::StrCat(plan_.contents.Describe(), ", from ", Plan::kHasParts ? "values" : "records", " of ",
                                   sizeof(typename Plan::Element), " bytes")}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    auto opened = OrderedWindowOperator<Plan>::Open(plan_, graph.context());
    if (!opened.ok()) {
      return opened.status();
    }
    return this->Consuming(graph, *std::move(opened));
  }

 private:
  Plan plan_;
};

}  // namespace glaive::engine

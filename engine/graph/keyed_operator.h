// KeyedOperator: a step with a state (engine/steps/stateful.h) for each key of the records.
//
//    producer ── Batch ──► state of the record's key ──► step ──► buffer ── Batch ──► consumers
//                             in a table of the executor
//
//   a step that makes records    Each has the event time of its original. Controls pass as they come.
//   a fold                       Rows come at the end of the stream, one a key. They are like those of an aggregation
//                                without a window: without event times, so that no watermark passes.
//
// What moves: each record, to the leader of its key, by the exchange in front of the operator. So all records of a key
// are on one executor, and the operator itself moves nothing. They come in the order in which the exchange brings them.
// The states, and their texts, are part of the executor's state and its budget (invariant I6). A turn is bounded: it
// ends after StateThresholds::entries_per_turn records or rows, and the table's index grows in steps.
//
// Consumers of a fold never hold up a source: the rows come when the sources have ended.
//
// Owned by the executor's task, used by its thread alone. KeyedVertex is its part of the query's graph.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
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
#include "engine/sink/sink.h"
#include "engine/window/window_spec.h"
#include "engine/window/windows.h"
#include "state/store/run_groups.h"
#include "state/store/slice_table.h"

namespace glaive::engine {

/// What a query says of it.
template <typename R, typename KeyT, typename StateT, typename StatefulStep, bool kFromSourceT>
struct KeyedPlan {
  using Record = R;
  using Key = std::remove_cvref_t<std::invoke_result_t<const KeyT&, const R&>>;
  using State = StateT;
  using Table = state::SliceTable<Key, State>;
  static constexpr bool kIsFold = requires(const StatefulStep& made, const State& state) { made.Result(state); };
  static constexpr bool kFromSource = kFromSourceT;

  KeyT key;
  State initial;  // of each key
  StatefulStep step;
};

/// `Plan` is a KeyedPlan. `Out`: what its step makes of a record, or a fold's row.
template <typename Plan, typename Out>
class KeyedOperator final : public TimedOperator<TimedRecord<typename Plan::Record>, Out>, public DescribedState {
 public:
  using In = TimedRecord<typename Plan::Record>;

  /// Opens the table. Both outlive the operator.
  static absl::StatusOr<std::unique_ptr<KeyedOperator>> Open(const Plan& plan, TaskContext& context) {
    absl::StatusOr<Table> table = Table::Create(*context.memory, /*expected_keys=*/0);
    if (!table.ok()) {
      return absl::Status(table.status().code(), absl::StrCat(table.status().message(), "; the ",
                                                              std::string(decltype(plan.step)::kName), " by key"));
    }
    return std::unique_ptr<KeyedOperator>(new KeyedOperator(plan, context, *std::move(table)));
  }

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    const Stretch stretch{.in_order = batch.in_order, .read_ns = batch.read_ns};
    records_ += batch.records.size();
    for (std::span<const In> rest = batch.records; !rest.empty();) {
      const std::span<const In> group = TakeFirst(rest, items_.size());
      TakeGroup(fiber, stretch, batch.event_time_shift_ms, group);
      this->CountWork(fiber, stretch, group.size());
    }
    this->HandOn(fiber, stretch);
  }

  void On(Fiber& fiber, const Control& control) override {
    if (Plan::kIsFold && std::holds_alternative<Watermark>(control)) {
      return;
    }
    if (std::holds_alternative<EndOfStream>(control)) {
      if constexpr (Plan::kIsFold) {
        EmitRows(fiber);
      }
      counts_ = table_.counts();
      table_.Release(*context_->memory);
    }
    output().Emit(fiber, control);
  }

  // A fold is held up until its rows come, as the trigger of a stage is: a consumer does not call the stream idle.
  bool WantsTurn(const Turn& turn) const override { return output().WantsTurn(TurnBehind(turn)); }
  void Attend(Fiber& fiber, const Turn& turn) override { output().Attend(fiber, TurnBehind(turn)); }
  bool LeadsTooFar(std::int64_t ahead_ms) const override { return !Plan::kIsFold && output().LeadsTooFar(ahead_ms); }
  std::optional<std::int64_t> watermark_ms() const override {
    return Plan::kIsFold ? std::nullopt : output().least_watermark_ms();
  }

  void Measure() override {
    state::TableCounts& tables = *context_->metrics;
    tables += counts_;
    context_->metrics->records_accepted += Plan::kIsFold && Plan::kFromSource ? records_ : 0;
  }

  std::string Describe() const override {
    return absl::StrCat("the ", std::string(decltype(plan_->step)::kName), " by key stores ", table_.size(),
                        " states of ", sizeof(typename Table::Entry), " bytes with their keys");
  }

 private:
  using Key = typename Plan::Key;
  using State = typename Plan::State;
  using Table = typename Plan::Table;
  using Stretch = typename TimedProducer<Out>::Stretch;
  using TimedOperator<In, Out>::output;
  /// A record and its key, as Table::Apply takes them.
  struct Item {
    std::uint64_t hash;
    Key key;
    const In* timed;
  };

  KeyedOperator(const Plan& plan, TaskContext& context, Table table)
      : TimedOperator<In, Out>(context), plan_(&plan), context_(&context), table_(std::move(table)) {}

  Turn TurnBehind(const Turn& turn) const { return {.now_ns = turn.now_ns, .held_up = turn.held_up || Plan::kIsFold}; }

  /// States stay where they are while the step's consumers suspend the fiber: nothing else changes the table.
  void TakeGroup(Fiber& fiber, const Stretch& stretch, std::int64_t shift_ms, std::span<const In> group) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Key key = std::invoke(plan_->key, group[i].record);
      items_[i] = Item{.hash = context_->memory->key_hash()(key), .key = key, .timed = &group[i]};
    }
    const absl::Status status = table_.Apply(
        *context_->memory, std::span<const Item>(items_.data(), group.size()),
        [&](State& state, const Item& item) {
          plan_->step(state, item.timed->record,
                      [&](const Out& made) { this->Add(fiber, stretch, item.timed->event_time_ms + shift_ms, made); });
        },
        [this] { return plan_->initial; });
    context_->Require(fiber, Explain(status));
  }

  void EmitRows(Fiber& fiber) {
    const std::int64_t now_ns = context_->clock->NowNanos();
    const Stretch stretch{.in_order = true, .read_ns = now_ns};
    if (output().idle() && table_.size() > 0) {
      output().Emit(fiber, Active{.now_ns = now_ns});
    }
    for (std::uint32_t i = 0; i < table_.size(); ++i) {
      const auto& [key, value] = table_.At(i);
      const Out row{.window_start_ms = kMinEventTimeMs,
                    .window_end_ms = kMaxEventTimeMs,
                    .key = key,
                    .value = plan_->step.Result(value)};
      this->Add(fiber, stretch, row.window_end_ms - 1, row);
    }
    this->HandOn(fiber, stretch);
  }

  const Plan* plan_;
  TaskContext* context_;
  Table table_;
  state::TableCounts counts_;  // of the table, once it has been released
  std::uint64_t records_ = 0;
  std::array<Item, state::kGroupSize> items_;
};

/// `Origin` is a TimedOrigin, of an exchange by the plan's key.
template <typename Origin, typename Plan, typename Out>
class KeyedVertex final : public TimedVertex<Origin, Out> {
 public:
  KeyedVertex(Origin origin, Plan plan) : TimedVertex<Origin, Out>(std::move(origin)), plan_(std::move(plan)) {}

  /// Of a fold that of an aggregation without a window.
  std::int64_t delay_ms() const override {
    const std::int64_t upstream_ms = this->origin().vertex->delay_ms();
    return Plan::kIsFold ? AddDelays(upstream_ms, Windows(Unbounded{}).ResultDelayMs()) : upstream_ms;
  }
  bool adds_past_results() const override { return !Plan::kIsFold && this->origin().vertex->adds_past_results(); }
  std::string_view why_not_in_loops() const override {
    return Plan::kIsFold ? "Fold() and Reduce() in the body of a loop would have their results at its end alone: "
                           "Window(EachIteration()) and Aggregate() have them in each iteration"
                         : "";
  }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    const std::string whose = std::is_same_v<typename Plan::Key, AllRecords>
                                  ? " bytes for all records"
                                  : absl::StrCat(" bytes for each key of ", sizeof(typename Plan::Key), " bytes");
    return {.kind = std::string(decltype(plan_.step)::kName),
            .facts = {absl::StrCat("a state of ", sizeof(typename Plan::State), whose),
                      Plan::kIsFold ? "one row each, at the end of the stream" : "results behind each record"}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    auto opened = KeyedOperator<Plan, Out>::Open(plan_, graph.context());
    if (!opened.ok()) {
      return opened.status();
    }
    return this->Consuming(graph, *std::move(opened));
  }

 private:
  Plan plan_;
};

}  // namespace glaive::engine

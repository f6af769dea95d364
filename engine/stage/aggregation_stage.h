// AggregationStage: an aggregation by key and window on one executor: its input, and the trigger that fires its
// windows.
//
// What moves: no record as such. An executor folds its records, and its input sends the values to the leaders of their
// keys as deltas. Where folding does not pay, and where values have texts, an entry of a delta is the key and what the
// aggregate reads of one record. Distinct sends an entry for each element of a key.
//
// AggregationVertex is the aggregation in the query's graph.
//
//   auto vertex = std::make_shared<const AggregationVertex<Plan>>(std::move(plan));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/executor/task_context.h"
#include "engine/graph/described_state.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/output.h"
#include "engine/graph/vertex.h"
#include "engine/progress/stage_progress.h"
#include "engine/stage/aggregation_plan.h"
#include "engine/stage/distinct_results.h"
#include "engine/stage/session_results.h"
#include "engine/stage/sliding_results.h"
#include "engine/stage/stage_input.h"
#include "engine/stage/stage_scope.h"
#include "engine/stage/tumbling_results.h"
#include "engine/stage/unbounded_results.h"
#include "engine/stage/window_trigger.h"
#include "engine/window/windows.h"

namespace glaive::engine {

/// Which of the kinds of results a window has.
template <typename Window, typename Plan>
struct ResultsKind;
template <typename Plan>
struct ResultsKind<Tumbling, Plan> : std::type_identity<TumblingResults<Plan>> {};
template <typename Plan>
struct ResultsKind<Sliding, Plan> : std::type_identity<SlidingResults<Plan>> {};
template <typename Plan>
struct ResultsKind<Session, Plan> : std::type_identity<SessionResults<Plan>> {};
template <typename Plan>
struct ResultsKind<Unbounded, Plan> : std::type_identity<UnboundedResults<Plan>> {};

template <typename Plan>
class AggregationStage final : public Producer<typename Plan::Row>, public DescribedState {
 public:
  /// Opens the input's state. `plan` outlives the stage.
  static absl::StatusOr<std::unique_ptr<Operator>> Open(const Plan& plan, OpenGraph& graph) {
    std::unique_ptr<AggregationStage> stage(new AggregationStage(plan, graph.context()));
    auto input = StageInput<Plan>::Open(plan, stage->windows_, stage->progress_, 0, *stage, graph);
    if (!input.ok()) {
      return input.status();
    }
    stage->input_ = *std::move(input);
    stage->trigger_ = std::make_unique<Trigger>(graph.context(), graph.reaches_sink(), stage->windows_,
                                                stage->progress_, stage->output(), *stage, stage->input_->store());
    return stage;
  }

  absl::Status Spawn(Scheduler& scheduler) override {
    input_->Start();
    return trigger_->Spawn(scheduler);
  }

  void Measure() override {
    input_->Measure();
    context_->metrics->slice_merges += trigger_->results().merges();
  }

  void AddParts(std::vector<ResultPart>& parts) const override { input_->AddParts(parts); }
  absl::Status Commit() override { return input_->Commit(); }

  std::string Describe() const override {
    const auto& primary = input_->store().primary();
    return absl::StrCat("the ", WindowName<typename Plan::Window>(), " aggregation stores ", primary.entries(),
                        " keys of ", sizeof(typename Plan::Store::Table::Entry), " bytes in ", primary.open_slices(),
                        " open slices");
  }

 private:
  using Kind = typename ResultsKind<typename Plan::Window, Plan>::type;
  using Results = std::conditional_t<Plan::kDistinct, DistinctResults<Plan, Kind>, Kind>;
  using Trigger = WindowTrigger<Plan, Results, typename Plan::Store>;

  AggregationStage(const Plan& plan, TaskContext& context)
      : context_(&context),
        windows_(plan.window),
        progress_(windows_, ProgressMembersOf(context, plan.scope).count, {plan.origin.vertex->delay_ms()}) {}

  TaskContext* context_;
  Windows windows_;
  StageProgress progress_;
  std::unique_ptr<StageInput<Plan>> input_;
  std::unique_ptr<Trigger> trigger_;
};

template <typename Plan>
class AggregationVertex final : public ProducerVertex<typename Plan::Row> {
 public:
  explicit AggregationVertex(Plan plan) : plan_(std::move(plan)) {}

  std::vector<const Vertex*> upstream() const override { return {plan_.origin.vertex.get()}; }
  std::vector<InputShape> inputs(const Roles& /*roles*/) const override {
    return InputsOf(plan_.scope, {{.entry_bytes = Plan::Store::kMostEntryBytes, .has_texts = Plan::Store::kHasTexts}});
  }
  bool has_fiber() const override { return true; }
  bool is_stage() const override { return true; }
  TableBytes tables() const override { return plan_.origin.tables; }
  std::optional<std::int64_t> window_ms() const override { return Windows(plan_.window).RetainedMs(); }
  std::int64_t delay_ms() const override {
    return AddDelays(plan_.origin.vertex->delay_ms(),
                     Windows(plan_.window).ResultDelayMs() + plan_.allowed_lateness_ms);
  }
  VertexPlan Explain(const Roles& roles) const override {
    return {.kind = "aggregation",
            .facts = {ChainFact<typename Plan::Chain>(),
                      absl::StrCat(AggregateName(plan_.aggregate), ", ", WindowText(plan_.window)),
                      LateMergeFact<typename Plan::GroupKey, typename Plan::Store>(MergersOf(plan_.scope, roles))}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return AggregationStage<Plan>::Open(plan_, graph);
  }

 private:
  Plan plan_;
};

}  // namespace glaive::engine

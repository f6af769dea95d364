// ContentStage: a function of all records of each key and window of event time, on one executor: its input, and the
// trigger that fires its windows.
//
// What moves: each record, with its event time, from the executor that has read it to the leader of its key, as a delta
// of an append set. Lateness is judged where a record is read, as of any window. So results do not depend on which
// executor has read which record, unless two records have the same event time.
//
// ContentVertex is the stage in the query's graph.
//
//   auto vertex = std::make_shared<const ContentVertex<Plan>>(std::move(plan));
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
#include "engine/stage/content_plan.h"
#include "engine/stage/content_results.h"
#include "engine/stage/stage_input.h"
#include "engine/stage/stage_scope.h"
#include "engine/stage/window_trigger.h"
#include "engine/window/windows.h"

namespace glaive::engine {

/// `Plan` is a ContentPlan.
template <typename Plan>
class ContentStage final : public Producer<typename Plan::Row>, public DescribedState {
 public:
  /// Opens the input's state. `plan` outlives the stage.
  static absl::StatusOr<std::unique_ptr<Operator>> Open(const Plan& plan, OpenGraph& graph) {
    std::unique_ptr<ContentStage> stage(new ContentStage(plan, graph.context()));
    auto input = StageInput<Input>::Open(plan.input, stage->windows_, stage->progress_, 0, *stage, graph);
    if (!input.ok()) {
      return input.status();
    }
    stage->input_ = *std::move(input);
    const auto make = [&] { return Results(graph.context(), stage->windows_, stage->input_->store(), plan); };
    stage->trigger_ =
        std::make_unique<Trigger>(graph.context(), graph.reaches_sink(), stage->windows_, stage->progress_,
                                  stage->output(), *stage, make, stage->input_->store());
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
    return absl::StrCat("Process() of ", WindowName<typename Plan::Window>(), " windows stores ",
                        trigger_->results().records() + input_->store().primary().entries(), " records of ",
                        sizeof(typename Input::Store::Table::Entry), " bytes");
  }

 private:
  using Input = typename Plan::Input;
  using Results = std::conditional_t<std::is_same_v<typename Plan::Window, Session>, SessionContentResults<Plan>,
                                     WindowContentResults<Plan>>;
  using Trigger = WindowTrigger<Plan, Results, typename Input::Store>;

  ContentStage(const Plan& plan, TaskContext& context)
      : context_(&context),
        windows_(plan.window),
        progress_(windows_, ProgressMembersOf(context, plan.input.scope).count,
                  {plan.input.origin.vertex->delay_ms()}) {}

  TaskContext* context_;
  Windows windows_;
  StageProgress progress_;
  std::unique_ptr<StageInput<Input>> input_;
  std::unique_ptr<Trigger> trigger_;
};

template <typename Plan>
class ContentVertex final : public ProducerVertex<typename Plan::Row> {
 public:
  explicit ContentVertex(Plan plan) : plan_(std::move(plan)) {}

  std::vector<const Vertex*> upstream() const override { return {plan_.input.origin.vertex.get()}; }
  std::vector<InputShape> inputs(const Roles& /*roles*/) const override {
    return InputsOf(plan_.input.scope,
                    {{.entry_bytes = Store::kMostEntryBytes, .has_texts = Store::kEntryBytes.has_texts}});
  }
  bool has_fiber() const override { return true; }
  bool is_stage() const override { return true; }
  TableBytes tables() const override { return plan_.input.origin.tables; }
  std::optional<std::int64_t> window_ms() const override { return Windows(plan_.window).RetainedMs(); }
  std::int64_t delay_ms() const override {
    return AddDelays(plan_.input.origin.vertex->delay_ms(),
                     Windows(plan_.window).ResultDelayMs() + plan_.input.allowed_lateness_ms);
  }
  VertexPlan Explain(const Roles& roles) const override {
    return {.kind = "process",
            .facts = {ChainFact<typename Plan::Input::Chain>(),
                      absl::StrCat("a function of all records, ", WindowText(plan_.window)),
                      LateMergeFact<typename Plan::GroupKey, Store>(MergersOf(plan_.input.scope, roles))}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return ContentStage<Plan>::Open(plan_, graph);
  }

 private:
  using Store = typename Plan::Input::Store;

  Plan plan_;
};

}  // namespace glaive::engine

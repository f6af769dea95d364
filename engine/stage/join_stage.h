// JoinStage: a windowed join of two streams on one executor: its two inputs, and the trigger that fires its windows.
//
// What moves: of each record its key and its kept part, from the executor that has read it to the leader of the key, as
// a delta of an append set. Behind an exchange that the query asks for (api/join_shipping.h), nothing.
//
// JoinVertex is the join in the query's graph.
//
//   auto vertex = std::make_shared<const JoinVertex<Plan>>(std::move(plan));
#pragma once

#include <algorithm>
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
#include "engine/graph/join_rows.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/output.h"
#include "engine/graph/shared_source.h"
#include "engine/graph/vertex.h"
#include "engine/progress/stage_progress.h"
#include "engine/stage/join_plan.h"
#include "engine/stage/join_tuples.h"
#include "engine/stage/session_join_results.h"
#include "engine/stage/stage_input.h"
#include "engine/stage/stage_scope.h"
#include "engine/stage/unwindowed_join_results.h"
#include "engine/stage/window_join_results.h"
#include "engine/stage/window_trigger.h"
#include "engine/window/windows.h"

namespace glaive::engine {

/// Which of the kinds of results the join of a window has.
template <typename Window, typename Local, typename Plan>
struct JoinResultsKind : std::type_identity<WindowJoinResults<Plan>> {};
template <typename Plan>
struct JoinResultsKind<Session, HashJoin, Plan> : std::type_identity<SessionJoinResults<Plan>> {};
template <typename Plan>
struct JoinResultsKind<Unbounded, HashJoin, Plan> : std::type_identity<UnwindowedJoinResults<Plan>> {};

template <typename Plan>
class JoinStage final : public Producer<typename Plan::Row>, public DescribedState {
 public:
  /// Opens the state of both inputs. `plan` outlives the stage.
  static absl::StatusOr<std::unique_ptr<Operator>> Open(const Plan& plan, OpenGraph& graph) {
    std::unique_ptr<JoinStage> stage(new JoinStage(plan, graph.context()));
    auto left = StageInput<typename Plan::Left>::Open(plan.left, stage->windows_, stage->progress_, 0, *stage, graph);
    if (!left.ok()) {
      return left.status();
    }
    auto right =
        StageInput<typename Plan::Right>::Open(plan.right, stage->windows_, stage->progress_, 1, *stage, graph);
    if (!right.ok()) {
      return right.status();
    }
    stage->left_ = *std::move(left);
    stage->right_ = *std::move(right);
    stage->trigger_ =
        std::make_unique<Trigger>(graph.context(), graph.reaches_sink(), stage->windows_, stage->progress_,
                                  stage->output(), *stage, stage->left_->store(), stage->right_->store());
    return stage;
  }

  absl::Status Spawn(Scheduler& scheduler) override {
    left_->Start();
    right_->Start();
    return trigger_->Spawn(scheduler);
  }

  void Measure() override {
    left_->Measure();
    right_->Measure();
    ExecutorMetrics& metrics = *context_->metrics;
    metrics.slice_merges += trigger_->results().merges();
    metrics.kept_tuples += trigger_->results().kept().most;
    metrics.kept_tuple_bytes += trigger_->results().kept().state_bytes;
  }

  void AddParts(std::vector<ResultPart>& parts) const override {
    left_->AddParts(parts);
    right_->AddParts(parts);
  }

  absl::Status Commit() override {
    absl::Status status = left_->Commit();
    status.Update(right_->Commit());
    return status;
  }

  std::string Describe() const override {
    const auto [left, right] = trigger_->results().kept_now();
    return absl::StrCat("the ", WindowName<typename Plan::Window>(), " join keeps ",
                        left + left_->store().primary().entries(), " tuples of ",
                        sizeof(typename Plan::Left::Store::Table::Entry), " bytes of its left stream and ",
                        right + right_->store().primary().entries(), " of ",
                        sizeof(typename Plan::Right::Store::Table::Entry), " bytes of its right one");
  }

 private:
  using Results = typename JoinResultsKind<typename Plan::Window, typename Plan::Local, Plan>::type;
  static_assert(JoinWindowKind<Results>);
  using Trigger = WindowTrigger<Plan, Results, typename Plan::Left::Store, typename Plan::Right::Store>;

  JoinStage(const Plan& plan, TaskContext& context)
      : context_(&context),
        windows_(plan.window),
        progress_(windows_, ProgressMembersOf(context, plan.left.scope).count,
                  {plan.left.origin.vertex->delay_ms(), plan.right.origin.vertex->delay_ms()},
                  FamiliesBySource({plan.left.origin.vertex.get(), plan.right.origin.vertex.get()})[1] != 0) {}

  TaskContext* context_;
  Windows windows_;
  StageProgress progress_;
  std::unique_ptr<StageInput<typename Plan::Left>> left_;
  std::unique_ptr<StageInput<typename Plan::Right>> right_;
  std::unique_ptr<Trigger> trigger_;
};

template <typename Plan>
class JoinVertex final : public ProducerVertex<typename Plan::Row> {
 public:
  explicit JoinVertex(Plan plan) : plan_(std::move(plan)) {}

  std::vector<const Vertex*> upstream() const override {
    return {plan_.left.origin.vertex.get(), plan_.right.origin.vertex.get()};
  }
  std::vector<InputShape> inputs(const Roles& /*roles*/) const override {
    using Left = typename Plan::Left::Store;
    using Right = typename Plan::Right::Store;
    return InputsOf(plan_.left.scope, {{.entry_bytes = Left::kMostEntryBytes, .has_texts = Left::kHasTexts},
                                       {.entry_bytes = Right::kMostEntryBytes, .has_texts = Right::kHasTexts}});
  }
  bool has_fiber() const override { return true; }
  bool is_stage() const override { return true; }
  TableBytes tables() const override {
    TableBytes both = plan_.left.origin.tables;
    both.insert(plan_.right.origin.tables.begin(), plan_.right.origin.tables.end());
    return both;
  }
  std::optional<std::int64_t> window_ms() const override { return Windows(plan_.window).RetainedMs(); }
  std::int64_t delay_ms() const override {
    const std::int64_t upstream_ms =
        std::max(plan_.left.origin.vertex->delay_ms(), plan_.right.origin.vertex->delay_ms());
    const std::int64_t lateness_ms = std::max(plan_.left.allowed_lateness_ms, plan_.right.allowed_lateness_ms);
    return AddDelays(upstream_ms, Windows(plan_.window).ResultDelayMs() + lateness_ms);
  }
  VertexPlan Explain(const Roles& roles) const override {
    const Roles mergers = MergersOf(plan_.left.scope, roles);
    using Left = typename Plan::Left;
    using Right = typename Plan::Right;
    return {.kind = JoinName(Plan::Rows::kKind),
            .facts = {absl::StrCat(WindowText(plan_.window),
                                   std::is_same_v<typename Plan::Local, SortMerge> ? ", by sorting" : ""),
                      absl::StrCat("left: ", ChainFact<typename Left::Chain>()),
                      absl::StrCat("left: ", LateMergeFact<typename Left::Key, typename Left::Store>(mergers)),
                      absl::StrCat("right: ", ChainFact<typename Right::Chain>()),
                      absl::StrCat("right: ", LateMergeFact<typename Right::Key, typename Right::Store>(mergers))}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return JoinStage<Plan>::Open(plan_, graph);
  }

 private:
  Plan plan_;
};

}  // namespace glaive::engine

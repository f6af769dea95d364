// LoopStepOperator: a step in the body of a loop (loop.h) whose function reads the loop's state.
//
//    producer ── Batch<TimedRecord<R>> ──► waits until the executor has begun the iteration ──► step ──► consumers
//
// No record moves to another executor: each has the state. The wait ends when this executor receives the decision, or
// in the first iteration when its own input has ended. While a step waits, other fibers can lack inbox credit of the
// exchange that feeds the step, and nothing else of it.
//
// Owned by the executor's task, used by its thread alone. LoopStepVertex is its part of the query's graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/loop.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/other_consumers.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/steps/stateful.h"
#include "rdma/base/check.h"

namespace glaive::engine {

/// A function of a record and a loop's state, which the steps of steps/stateful.h call with the state first.
template <typename Function>
struct RecordFirst {
  template <typename State, typename R>
  decltype(auto) operator()(const State& state, const R& record) const {
    return std::invoke(function, record, state);
  }

  Function function;
};

/// Such a step: the record itself, if `predicate(record, state)` holds.
template <typename Predicate>
struct SelectedWithState {
  static constexpr std::string_view kName = "rich filter";

  template <typename State, typename R, typename Emit>
  void operator()(const State& state, const R& record, const Emit& emit) const {
    if (std::invoke(predicate, record, state)) {
      emit(record);
    }
  }

  Predicate predicate;
};

/// `StepOfLoop` is a step that makes records Out of records R, and leaves the state as it is.
template <typename R, typename State, typename StepOfLoop, typename Out>
class LoopStepOperator final : public TimedOperator<TimedRecord<R>, Out> {
 public:
  /// All references outlive the operator. `progress` is of the innermost loop around the step, `state` of that or of
  /// one further out.
  LoopStepOperator(TaskContext& context, const StepOfLoop& step, const LoopProgress& progress,
                   const StateOfLoop<State>& state)
      : TimedOperator<TimedRecord<R>, Out>(context),
        context_(&context),
        step_(&step),
        progress_(&progress),
        state_(&state) {}

  void Take(Fiber& fiber, const Batch<TimedRecord<R>>& batch) override {
    const typename TimedProducer<Out>::Stretch stretch{.in_order = batch.in_order, .read_ns = batch.read_ns};
    for (const TimedRecord<R>& timed : batch.records) {
      const std::int64_t iteration = timed.event_time_ms + batch.event_time_shift_ms;
      if (!progress_->has_begun(iteration)) [[unlikely]] {
        this->HandOn(fiber, stretch);
        WaitAndAttend(fiber, *context_->clock, this->others(), [&] { return progress_->has_begun(iteration); });
      }
      (*step_)(state_->state(), timed.record, [&](const Out& made) { this->Add(fiber, stretch, iteration, made); });
    }
    this->HandOn(fiber, stretch);
  }
  void On(Fiber& fiber, const Control& control) override { this->output().Emit(fiber, control); }

 private:
  TaskContext* context_;
  const StepOfLoop* step_;
  const LoopProgress* progress_;
  const StateOfLoop<State>* state_;
};

/// `Origin` is a TimedOrigin of records R.
template <typename Origin, typename R, typename State, typename StepOfLoop, typename Out>
class LoopStepVertex final : public TimedVertex<Origin, Out> {
 public:
  /// `head` is that of the loop whose state the step reads.
  LoopStepVertex(Origin from, std::shared_ptr<const Vertex> head, StepOfLoop step)
      : TimedVertex<Origin, Out>(std::move(from)), head_(std::move(head)), step_(std::move(step)) {}

  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = absl::StrCat(std::string(StepOfLoop::kName), " with the state of the loop"), .facts = {}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    const Vertex* around = this->loop();
    while (around != nullptr && around != head_.get()) {
      around = around->upstream().front()->loop();
    }
    if (around == nullptr) {
      return absl::InvalidArgumentError("a step reads the state of a loop outside of the loop's body");
    }
    const auto* const progress = graph.template FindOperator<LoopProgress>(*this->loop());
    const auto* const state = graph.template FindOperator<StateOfLoop<State>>(*head_);
    GLAIVE_CHECK(progress != nullptr && state != nullptr, "a step of a loop is opened before its head");
    return this->Consuming(graph, std::make_unique<LoopStepOperator<R, State, StepOfLoop, Out>>(graph.context(), step_,
                                                                                                *progress, *state));
  }

 private:
  std::shared_ptr<const Vertex> head_;
  StepOfLoop step_;
};

}  // namespace glaive::engine

// LoopEnd: the end of a loop (loop.h) on one executor: it tells the head of decisions, feeds records back, and hands on
// the outcome. LoopRecords: the records that the last iteration has fed back.
//
//    exchange to all ── LoopDecision ──► the head's next iteration, or the outcome ── LoopOutcome ──► consumers
//    body ── Batch<TimedRecord<R>> ──► stored by the head, where the loop iterates
//
//    LoopEnd ── LoopOutcome ──► all records of the last iteration ── Batch<TimedRecord<R>> ──► consumers
//
// Results of a loop inside of another one belong to the iteration in which the loop ran: they have its number as event
// time. Other results have the event time 0. No record moves.
//
// Owned by the executor's task, used by its thread alone. LoopEndVertex and LoopRecordsVertex are their parts of the
// query's graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/loop.h"
#include "engine/graph/loop_store.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/turn.h"
#include "engine/graph/vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/source/source.h"
#include "engine/window/window_spec.h"
#include "engine/window/windows.h"
#include "rdma/base/check.h"
#include "rdma/base/ids.h"

namespace glaive::engine {

template <typename State, typename R>
class LoopEnd final : public TimedOperator<TimedRecord<LoopDecision<State>>, LoopOutcome<State>> {
 public:
  using In = TimedRecord<LoopDecision<State>>;

  /// `context` and `loop` outlive the operator. `is_inner`: the loop runs in each iteration of another one.
  LoopEnd(const TaskContext& context, Loop<State, R>& loop, bool is_inner)
      : TimedOperator<In, LoopOutcome<State>>(context),
        context_(&context),
        loop_(&loop),
        is_inner_(is_inner),
        feedback_(loop) {}

  /// Takes in the records of the body that are fed back.
  Consumer<TimedRecord<R>>& feedback() { return feedback_; }

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    for (const In& timed : batch.records) {
      loop_->OnDecision(timed.record);
      if (timed.record.goes_on == 0) {
        HandOnResults(fiber, timed.record.state, batch.read_ns);
      }
    }
  }

  void On(Fiber& fiber, const Control& control) override {
    if (std::holds_alternative<EndOfStream>(control)) {
      output().Emit(fiber, control);
    }
  }

  // A loop is held up until its results come, as the trigger of a stage is: a consumer does not call the stream idle.
  bool WantsTurn(const Turn& turn) const override { return output().WantsTurn(TurnBehind(turn)); }
  void Attend(Fiber& fiber, const Turn& turn) override { output().Attend(fiber, TurnBehind(turn)); }
  /// What comes behind a loop is compared with no flow of its body.
  bool LeadsTooFar(std::int64_t /*ahead_ms*/) const override { return false; }
  std::optional<std::int64_t> watermark_ms() const override { return std::nullopt; }

 private:
  using TimedOperator<In, LoopOutcome<State>>::output;

  class Feedback final : public Consumer<TimedRecord<R>> {
   public:
    explicit Feedback(Loop<State, R>& loop) : loop_(&loop) {}

    void Take(Fiber& fiber, const Batch<TimedRecord<R>>& batch) override {
      for (const TimedRecord<R>& timed : batch.records) {
        loop_->FeedBack(fiber, timed.event_time_ms + batch.event_time_shift_ms, timed.record);
      }
    }
    void On(Fiber& /*fiber*/, const Control& /*control*/) override {}

   private:
    Loop<State, R>* loop_;
  };

  static Turn TurnBehind(const Turn& turn) { return {.now_ns = turn.now_ns, .held_up = true}; }

  void HandOnResults(Fiber& fiber, const State& state, std::int64_t read_ns) {
    const std::int64_t watermark_ms = loop_->result_watermark_ms();
    const typename TimedProducer<LoopOutcome<State>>::Stretch stretch{.in_order = true, .read_ns = read_ns};
    this->Add(fiber, stretch, is_inner_ ? watermark_ms - 1 : NoEventTime()(state),
              {.executor = Value(context_->self), .state = state});
    this->HandOn(fiber, stretch);
    if (is_inner_) {
      output().Emit(fiber, Watermark{.time_ms = watermark_ms, .read_ns = read_ns});
    }
    loop_->OnResults();
  }

  const TaskContext* context_;
  Loop<State, R>* loop_;
  bool is_inner_;
  Feedback feedback_;
};

/// `Origin` is the TimedOrigin of an exchange of decisions to all executors. The vertices are those of the loop's head,
/// and of the body's records where these are fed back.
template <typename Origin, typename State, typename R>
class LoopEndVertex final : public TimedVertex<Origin, LoopOutcome<State>> {
 public:
  using Records = ProducerVertex<TimedRecord<R>>;

  LoopEndVertex(Origin decisions, std::shared_ptr<const Records> head, std::shared_ptr<const Records> fed_back)
      : TimedVertex<Origin, LoopOutcome<State>>(std::move(decisions)),
        head_(std::move(head)),
        fed_back_(std::move(fed_back)) {}

  std::vector<const Vertex*> upstream() const override {
    std::vector<const Vertex*> all = {this->origin().vertex.get()};
    if (fed_back_ != nullptr) {
      all.push_back(fed_back_.get());
    }
    return all;
  }
  /// That of the loop around this one.
  const Vertex* loop() const override { return head_->upstream().front()->loop(); }
  const Vertex* ends_loop() const override { return head_.get(); }
  /// Outside of another loop, that of an aggregation without a window.
  std::int64_t delay_ms() const override {
    const std::int64_t input_ms = head_->upstream().front()->delay_ms();
    return loop() == nullptr ? AddDelays(input_ms, Windows(Unbounded{}).ResultDelayMs()) : input_ms;
  }
  bool is_behind_exchange() const override { return true; }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "end of the loop", .facts = {"begins the next iteration, or hands on the results of the last one"}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    auto* const its_loop = graph.template FindOperator<Loop<State, R>>(*head_);
    GLAIVE_CHECK(its_loop != nullptr, "the end of a loop is opened before its head");
    auto opened = std::make_unique<LoopEnd<State, R>>(graph.context(), *its_loop, loop() != nullptr);
    if (fed_back_ != nullptr) {
      graph.OutputOf(*fed_back_).Add(opened->feedback());
    }
    return this->Consuming(graph, std::move(opened));
  }

 private:
  std::shared_ptr<const Records> head_;
  std::shared_ptr<const Records> fed_back_;
};

template <typename State, typename R>
class LoopRecords final : public TimedOperator<TimedRecord<LoopOutcome<State>>, R> {
 public:
  using In = TimedRecord<LoopOutcome<State>>;

  /// `context` and `loop` outlive the operator.
  LoopRecords(const TaskContext& context, const Loop<State, R>& loop) : TimedOperator<In, R>(context), loop_(&loop) {}

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    const typename TimedProducer<R>::Stretch stretch{.in_order = true, .read_ns = batch.read_ns};
    for (const In& timed : batch.records) {
      const LoopStore<R>& last = loop_->last_records();
      for (std::size_t i = 0; i < last.block_count(); ++i) {
        for (const R& record : last.block(i)) {
          this->Add(fiber, stretch, timed.event_time_ms, record);
          this->CountWork(fiber, stretch);
        }
      }
    }
    this->HandOn(fiber, stretch);
  }
  void On(Fiber& fiber, const Control& control) override { this->output().Emit(fiber, control); }

 private:
  const Loop<State, R>* loop_;
};

/// `Origin` is the TimedOrigin of a LoopEnd.
template <typename Origin, typename State, typename R>
class LoopRecordsVertex final : public TimedVertex<Origin, R> {
 public:
  LoopRecordsVertex(Origin outcome, std::shared_ptr<const ProducerVertex<TimedRecord<R>>> head)
      : TimedVertex<Origin, R>(std::move(outcome)), head_(std::move(head)) {}

  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "records of the last iteration", .facts = {}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    const auto* const its_loop = graph.template FindOperator<Loop<State, R>>(*head_);
    GLAIVE_CHECK(its_loop != nullptr, "the results of a loop are opened before its head");
    return this->Consuming(graph, std::make_unique<LoopRecords<State, R>>(graph.context(), *its_loop));
  }

 private:
  std::shared_ptr<const ProducerVertex<TimedRecord<R>>> head_;
};

}  // namespace glaive::engine

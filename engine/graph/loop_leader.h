// LoopLeader: decides at the end of each iteration of a loop (loop.h) how it goes on.
//
//    stage ── WindowResult of iteration r, without a key ──► stored
//          ── Watermark r + 1 ──► update(state, value) ──► LoopDecision ──► exchange to all
//          ── EndOfStream ──────────────────────────► EndOfStream ────────►
//
// Only the executor that leads the key AllRecords decides: the stage has its results there. No watermark is passed on,
// since the decision tells all executors that the iteration has ended. An iteration whose body made no record has no
// result: its value is that of an aggregate of no records.
//
// Owned by the executor's task, used by its thread alone. LoopLeaderVertex is its part of the query's graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/loop.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/sink/sink.h"
#include "rdma/base/check.h"
#include "state/index/leaders.h"

namespace glaive::engine {

/// `Row` is a WindowResult of one iteration. `Update` is a function of State& and the row's value that returns whether
/// another iteration follows.
template <typename Row, typename State, typename Update>
class LoopLeader final : public TimedOperator<Row, LoopDecision<State>> {
 public:
  using Value = decltype(Row::value);

  struct Options {
    State initial;
    Value of_no_records;
    std::uint64_t most_iterations = 1;
  };

  /// All references outlive the operator.
  LoopLeader(TaskContext& context, const Options& options, const Update& update)
      : TimedOperator<Row, LoopDecision<State>>(context),
        context_(&context),
        options_(&options),
        update_(&update),
        decides_(context.roles.leaders().Of(context.memory->key_hash()(AllRecords{})) == context.self),
        state_(options.initial) {}

  void Take(Fiber& /*fiber*/, const Batch<Row>& batch) override {
    for (const Row& row : batch.records) {
      value_ = row.value;
    }
  }

  void On(Fiber& fiber, const Control& control) override {
    if (const auto* watermark = std::get_if<Watermark>(&control)) {
      if (decides_) {
        Decide(fiber, *watermark);
        output().Flush(fiber);
      }
    } else if (std::holds_alternative<EndOfStream>(control)) {
      output().Emit(fiber, control);
    }
  }

  /// The flows of a loop wait for each other at the end of each iteration.
  bool LeadsTooFar(std::int64_t /*ahead_ms*/) const override { return false; }
  std::optional<std::int64_t> watermark_ms() const override { return std::nullopt; }

 private:
  using TimedOperator<Row, LoopDecision<State>>::output;

  void Decide(Fiber& fiber, const Watermark& watermark) {
    GLAIVE_CHECK(watermark.time_ms == ++iterations_in_all_, "iteration ", iterations_in_all_, " of a loop ends at ",
                 watermark.time_ms);
    const bool wants_more = std::invoke(*update_, state_, value_ ? *value_ : options_->of_no_records);
    value_.reset();
    const bool goes_on = wants_more && ++iterations_ < options_->most_iterations;
    const typename TimedProducer<LoopDecision<State>>::Stretch stretch{.in_order = true, .read_ns = watermark.read_ns};
    this->Add(fiber, stretch, watermark.time_ms - 1, {.goes_on = goes_on ? 1U : 0U, .state = state_});
    this->HandOn(fiber, stretch);
    if (!goes_on) {
      iterations_ = 0;
      state_ = options_->initial;
    }
  }

  TaskContext* context_;
  const Options* options_;
  const Update* update_;
  bool decides_;
  State state_;
  std::optional<Value> value_;    // of this iteration
  std::uint64_t iterations_ = 0;  // of this run
  std::int64_t iterations_in_all_ = 0;
};

/// `Origin` is the StageOrigin of the rows.
template <typename Origin, typename Row, typename State, typename Update>
class LoopLeaderVertex final : public TimedVertex<Origin, LoopDecision<State>> {
 public:
  using Leader = LoopLeader<Row, State, Update>;

  LoopLeaderVertex(Origin origin, typename Leader::Options options, Update update)
      : TimedVertex<Origin, LoopDecision<State>>(std::move(origin)),
        options_(std::move(options)),
        update_(std::move(update)) {}

  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "leader of the loop", .facts = {"updates the state at the end of each iteration, on one executor"}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return this->Consuming(graph, std::make_unique<Leader>(graph.context(), options_, update_));
  }

 private:
  typename Leader::Options options_;
  Update update_;
};

}  // namespace glaive::engine

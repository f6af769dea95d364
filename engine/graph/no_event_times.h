// NoEventTimeOperator: takes the event times of a stream away.
//
//    producer ── Batch<In> ──► chain ──► buffer ── Batch<TimedRecord<Out>>, each at time 0 ──► consumers
//             ── Watermark ──► dropped
//             ── Idle, Active, EndOfStream ──────── the same ─────────────────────────────────►
//
// The stream behind it is as one whose source has no event times: its aggregates have their results at its end. No
// executor waits for others that are behind in the event times that were taken away. An executor still reads its own
// sources in the order of their event times. No record moves to another executor.
//
// Owned by the executor's task, used by its thread alone. NoEventTimeVertex is its part of the query's graph.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/source/source.h"
#include "engine/steps/steps.h"

namespace glaive::engine {

template <Step Chain>
class NoEventTimeOperator final : public TimedOperator<typename Chain::In, typename Chain::Out> {
 public:
  using In = typename Chain::In;
  using Out = typename Chain::Out;

  /// All references outlive the operator.
  NoEventTimeOperator(const TaskContext& context, const Chain& chain)
      : TimedOperator<In, Out>(context), chain_(&chain) {}

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    const typename TimedProducer<Out>::Stretch stretch{.in_order = true, .read_ns = batch.read_ns};
    for (const In& record : batch.records) {
      if (chain_->Selects(record)) {
        chain_->Push(record,
                     [&](const Out& survivor) { this->Add(fiber, stretch, NoEventTime()(survivor), survivor); });
      }
    }
    this->HandOn(fiber, stretch);
  }

  void On(Fiber& fiber, const Control& control) override {
    if (!std::holds_alternative<Watermark>(control)) {
      output().Emit(fiber, control);
    }
  }

  bool LeadsTooFar(std::int64_t /*ahead_ms*/) const override { return output().LeadsTooFar(); }
  /// Event times in front of the operator are compared with those of no other executor.
  std::optional<std::int64_t> watermark_ms() const override { return std::nullopt; }

 private:
  using TimedOperator<In, Out>::output;

  const Chain* chain_;
};

template <typename Origin, Step Chain>
class NoEventTimeVertex final : public TimedVertex<Origin, typename Chain::Out> {
 public:
  NoEventTimeVertex(Origin origin, Chain chain)
      : TimedVertex<Origin, typename Chain::Out>(std::move(origin)), chain_(std::move(chain)) {}

  bool goes_by_clock() const override { return false; }
  std::string_view why_not_in_loops() const override {
    return "event times in the body of a loop are the numbers of its iterations, and WithoutEventTime() takes them "
           "away";
  }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "no event times", .facts = {ChainFact<Chain>()}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return this->Consuming(graph, std::make_unique<NoEventTimeOperator<Chain>>(graph.context(), chain_));
  }

 private:
  Chain chain_;
};

}  // namespace glaive::engine

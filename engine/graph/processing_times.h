// ProcessingTimeOperator: gives records the time at which it takes them in, and makes the watermarks that belong to it.
//
//    producer ── Batch<In> ──► chain ──► now ──► buffer ── Batch<TimedRecord<Out>> ──► consumers
//             ── Attend, every 10 ms ───────────────────── Watermark: now ───────────►
//             ── Watermark, Idle, Active ──► dropped
//             ── EndOfStream ───────────────────────────── the same ─────────────────►
//
// The time is the wall clock of the executor's host, in milliseconds since 1970, and the same for all records of a
// batch. It never goes back. It goes on without records, so windows close on a silent stream, and the stream is never
// idle. No record is late. The operator has no fiber and no timer of its own: it asks its producer for a turn every
// 10 ms, which each fiber grants while it waits (rule 7 of operator.h). No record moves to another executor.
//
// What a source in front of it reads moves its times no faster. So the source waits for no other stream of a union or a
// join, which may be made of its records, and for no other executor, whose clock may be behind for ever. It waits for
// windows that all flows have passed and that have not fired (invariant I7). Other sources wait for the clock, which
// goes on.
//
// Owned by the executor's task, used by its thread alone. ProcessingTimeVertex is its part of the query's graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/steps/steps.h"

namespace glaive::engine {

template <Step Chain>
class ProcessingTimeOperator final : public TimedOperator<typename Chain::In, typename Chain::Out> {
 public:
  using In = typename Chain::In;
  using Out = typename Chain::Out;

  /// All references outlive the operator.
  ProcessingTimeOperator(const TaskContext& context, const Chain& chain, bool is_behind_exchange)
      : TimedOperator<In, Out>(context),
        clock_(context.clock),
        chain_(&chain),
        is_behind_exchange_(is_behind_exchange) {}

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    const typename TimedProducer<Out>::Stretch stretch{.in_order = true, .read_ns = batch.read_ns};
    const std::int64_t time_ms = NowMs();
    for (const In& record : batch.records) {
      if (chain_->Selects(record)) {
        chain_->Push(record, [&](const Out& survivor) { this->Add(fiber, stretch, time_ms, survivor); });
      }
    }
    this->HandOn(fiber, stretch);
    MoveTo(fiber, time_ms, batch.read_ns);
  }

  void On(Fiber& fiber, const Control& control) override {
    if (std::holds_alternative<EndOfStream>(control)) {
      output().Emit(fiber, control);
    }
  }

  bool LeadsTooFar(std::int64_t /*ahead_ms*/) const override { return !is_behind_exchange_ && output().LeadsTooFar(); }
  /// Event times in front of the operator are compared with no others.
  std::optional<std::int64_t> watermark_ms() const override { return std::nullopt; }

  bool WantsTurn(const Turn& turn) const override { return IsDue() || output().WantsTurn(turn); }
  void Attend(Fiber& fiber, const Turn& turn) override {
    if (IsDue()) {
      MoveTo(fiber, NowMs(), turn.now_ns);
    }
    output().Attend(fiber, turn);
  }

 private:
  using TimedOperator<In, Out>::output;

  static constexpr std::int64_t kStepMs = 10;  // without records

  std::int64_t NowMs() const { return std::max(clock_->WallMillis(), output().watermark_ms()); }
  bool IsDue() const {
    const std::int64_t told_ms = output().watermark_ms();
    return told_ms == kMinEventTimeMs || clock_->WallMillis() - told_ms >= kStepMs;
  }
  void MoveTo(Fiber& fiber, std::int64_t time_ms, std::int64_t now_ns) {
    if (time_ms > output().watermark_ms()) {
      output().Emit(fiber, Watermark{.time_ms = time_ms, .read_ns = now_ns});
    }
  }

  const Clock* clock_;
  const Chain* chain_;
  const bool is_behind_exchange_;
};

template <typename Origin, Step Chain>
class ProcessingTimeVertex final : public TimedVertex<Origin, typename Chain::Out> {
 public:
  ProcessingTimeVertex(Origin origin, Chain chain)
      : TimedVertex<Origin, typename Chain::Out>(std::move(origin)), chain_(std::move(chain)) {}

  std::int64_t delay_ms() const override { return 0; }
  bool goes_by_clock() const override { return true; }
  std::string_view why_not_in_loops() const override {
    return "event times in the body of a loop are the numbers of its iterations, and WithProcessingTime() changes them";
  }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "processing times", .facts = {ChainFact<Chain>(), "the time at which a record is taken in"}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return this->Consuming(
        graph, std::make_unique<ProcessingTimeOperator<Chain>>(graph.context(), chain_, this->is_behind_exchange()));
  }

 private:
  Chain chain_;
};

}  // namespace glaive::engine

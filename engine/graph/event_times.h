// EventTimeOperator: gives records event times, and makes the watermarks that belong to them.
//
//    producer ── Batch<In> ──► chain ──► time of each ──► buffer ── Batch<TimedRecord<Out>> ──► consumers
//             ── Watermark ──► dropped                          ── Watermark: the latest time - bound ──►
//             ── Idle, Active, EndOfStream ──────────────────── the same ──────────────►
//
// No record moves to another executor. A watermark follows each batch that has moved it. Records may be out of order by
// the bound; a record that is later than that may be late for its window. The stream has no watermark of its own while
// the chain drops all records, or while an exchange brings none. So it falls idle after --idle-timeout without a
// record, and others do not wait for it. Time in which a consumer holds up the producer does not count.
//
// A source in front of it waits for flows that are behind in the new event times (invariant I7), unless an exchange is
// between them: the flow that is behind may wait for the very records that the source would read next.
//
// Owned by the executor's task, used by its thread alone. EventTimeVertex is its part of the query's graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/progress/idleness.h"
#include "engine/steps/steps.h"

namespace glaive::engine {

/// `Time` is a callable from what the chain makes to milliseconds.
template <Step Chain, typename Time>
class EventTimeOperator final : public TimedOperator<typename Chain::In, typename Chain::Out> {
 public:
  using In = typename Chain::In;
  using Out = typename Chain::Out;

  /// All references outlive the operator. `bound_ms` is not negative.
  EventTimeOperator(TaskContext& context, const Chain& chain, const Time& time, std::int64_t bound_ms,
                    bool is_behind_exchange)
      : TimedOperator<In, Out>(context),
        context_(&context),
        chain_(&chain),
        time_(&time),
        bound_ms_(bound_ms),
        is_behind_exchange_(is_behind_exchange),
        idleness_(context.idle_timeout_ns) {}

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    const typename TimedProducer<Out>::Stretch stretch{.read_ns = batch.read_ns};
    bool has_any = false;
    for (const In& record : batch.records) {
      if (chain_->Selects(record)) {
        chain_->Push(record, [&](const Out& survivor) {
          if (!std::exchange(has_any, true)) {
            Wake(fiber);
          }
          const std::int64_t time_ms = std::invoke(*time_, survivor);
          if (time_ms == kMinEventTimeMs || time_ms == kMaxEventTimeMs) [[unlikely]] {
            context_->Fail(fiber, absl::InvalidArgumentError(
                                      absl::StrCat("WithEventTime() has a record with the event time ", time_ms,
                                                   " ms, which is no time: Filter() such records out before it")));
          }
          latest_ms_ = std::max(latest_ms_, time_ms);
          this->Add(fiber, stretch, time_ms, survivor);
        });
      }
    }
    this->HandOn(fiber, stretch);
    if (const std::int64_t watermark_ms = HeldBack(latest_ms_, bound_ms_); watermark_ms > output().watermark_ms()) {
      output().Emit(fiber, Watermark{.time_ms = watermark_ms, .read_ns = batch.read_ns});
    }
  }

  void On(Fiber& fiber, const Control& control) override {
    if (std::holds_alternative<Active>(control)) {
      Wake(fiber);
    } else if (std::holds_alternative<EndOfStream>(control) ||
               (std::holds_alternative<Idle>(control) && !output().idle())) {
      output().Emit(fiber, control);
    }
  }

  bool LeadsTooFar(std::int64_t /*ahead_ms*/) const override { return !is_behind_exchange_ && output().LeadsTooFar(); }
  std::optional<std::int64_t> watermark_ms() const override {
    return is_behind_exchange_ ? std::nullopt : output().least_watermark_ms();
  }

  bool WantsTurn(const Turn& turn) const override {
    const bool changes = turn.held_up ? idleness_.silent() : !idleness_.silent() || idleness_.Due(turn.now_ns);
    return (changes && !output().idle()) || output().WantsTurn(turn);
  }
  void Attend(Fiber& fiber, const Turn& turn) override {
    if (turn.held_up) {
      idleness_.OnActivity(turn.now_ns);
    } else if (!output().idle() && idleness_.OnSilence(turn.now_ns)) {
      output().Emit(fiber, Idle{.now_ns = turn.now_ns});
    }
    output().Attend(fiber, turn);
  }

 private:
  using TimedOperator<In, Out>::output;

  /// There is a record, or the producer is not idle any more.
  void Wake(Fiber& fiber) {
    const std::int64_t now_ns = context_->clock->NowNanos();
    idleness_.OnActivity(now_ns);
    if (output().idle()) {
      output().Emit(fiber, Active{.now_ns = now_ns});
    }
  }

  TaskContext* context_;
  const Chain* chain_;
  const Time* time_;
  const std::int64_t bound_ms_;
  const bool is_behind_exchange_;
  std::int64_t latest_ms_ = kMinEventTimeMs;
  Idleness idleness_;
};

template <typename Origin, Step Chain, typename Time>
class EventTimeVertex final : public TimedVertex<Origin, typename Chain::Out> {
 public:
  EventTimeVertex(Origin origin, Chain chain, Time time, std::int64_t bound_ms)
      : TimedVertex<Origin, typename Chain::Out>(std::move(origin)),
        chain_(std::move(chain)),
        time_(std::move(time)),
        bound_ms_(bound_ms) {}

  std::int64_t delay_ms() const override { return AddDelays(this->origin().vertex->delay_ms(), bound_ms_); }
  bool goes_by_clock() const override { return false; }
  std::string_view why_not_in_loops() const override {
    return "event times in the body of a loop are the numbers of its iterations, and WithEventTime() changes them";
  }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "event times",
            .facts = {ChainFact<Chain>(), absl::StrCat("watermarks stay behind by ", bound_ms_, " ms")}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return this->Consuming(graph, std::make_unique<EventTimeOperator<Chain, Time>>(
                                      graph.context(), chain_, time_, bound_ms_, this->is_behind_exchange()));
  }

 private:
  Chain chain_;
  Time time_;
  std::int64_t bound_ms_;
};

}  // namespace glaive::engine

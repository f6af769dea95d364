// ReorderOperator: puts the records of a stream in the order of their event times, on each executor.
//
//    producer ── Batch ──► heap of records by event time
//             ── Watermark ──► the records up to it, in order ── Batch ──► consumers
//                          ──► Watermark ────────────────────────────────►
//             ── EndOfStream ──► all records, in order ──► EndOfStream ──►
//
// No record moves to another executor. So the records of one executor are in order, and those of two executors are in
// any order: behind an exchange by key, each key's records are in order. Records with the same event time stay in the
// order in which they came. A record that is earlier than the watermark is late: it goes on at once, as it came.
//
// Records wait in the executor's state, and count against its budget (invariant I6): so many as the watermark stays
// behind. A turn is bounded: it ends after StateThresholds::entries_per_turn records. Costs: a record is sifted through
// the heap twice, in some dozen steps.
//
// Owned by the executor's task, used by its thread alone. ReorderVertex is its part of the query's graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/described_state.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex_plan.h"
#include "state/log/value_texts.h"
#include "state/store/fifo.h"
#include "state/store/small_blocks.h"

namespace glaive::engine {

/// A record that waits for the watermark.
template <typename R>
struct WaitingRecord {
  using Members = std::tuple<std::int64_t, std::uint64_t, R>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("record", self.record);
  }

  std::int64_t time_ms;
  std::uint64_t number;  // among all records, in the order in which they came
  R record;
};

template <typename R>
class ReorderOperator final : public TimedOperator<TimedRecord<R>, R>, public DescribedState {
 public:
  /// `context` outlives the operator.
  explicit ReorderOperator(TaskContext& context) : TimedOperator<TimedRecord<R>, R>(context), context_(&context) {}

  void Take(Fiber& fiber, const Batch<TimedRecord<R>>& batch) override {
    const Stretch stretch{.read_ns = batch.read_ns};
    for (const TimedRecord<R>& timed : batch.records) {
      const std::int64_t time_ms = timed.event_time_ms + batch.event_time_shift_ms;
      if (time_ms < output().watermark_ms()) {
        this->Add(fiber, stretch, time_ms, timed.record);
      } else {
        context_->Require(fiber, Explain(Push({.time_ms = time_ms, .number = count_++, .record = timed.record})));
      }
      this->CountWork(fiber, stretch);
    }
    this->HandOn(fiber, stretch);
  }

  void On(Fiber& fiber, const Control& control) override {
    if (const auto* watermark = std::get_if<Watermark>(&control)) {
      EmitUpTo(fiber, watermark->time_ms, watermark->read_ns);
    } else if (std::holds_alternative<EndOfStream>(control)) {
      EmitUpTo(fiber, kEndedMs, context_->clock->NowNanos());
      blocks_.ReleaseAll(*context_->memory);
      texts_.Release(*context_->memory);
    }
    output().Emit(fiber, control);
  }

  std::string Describe() const override {
    return absl::StrCat("Reorder() stores ", heap_.size(), " records of ", sizeof(Waiting),
                        " bytes, which are later than the watermark");
  }

 private:
  using Waiting = WaitingRecord<R>;
  using Stretch = typename TimedProducer<R>::Stretch;
  using TimedOperator<TimedRecord<R>, R>::output;

  /// The order of the heap, whose front is the earliest record.
  static bool IsLater(const Waiting& a, const Waiting& b) {
    return std::tuple(a.time_ms, a.number) > std::tuple(b.time_ms, b.number);
  }

  absl::Status Push(const Waiting& waiting) {
    absl::Status status = heap_.Push(*context_->memory, blocks_, waiting);
    if (status.ok()) {
      status = texts_.Change(*context_->memory, heap_.back(), state::Age::kNew, [](Waiting& /*owned*/) {});
      std::ranges::push_heap(heap_.elements(), &IsLater);
    }
    return status;
  }

  void EmitUpTo(Fiber& fiber, std::int64_t time_ms, std::int64_t read_ns) {
    const Stretch stretch{.in_order = true, .read_ns = read_ns};
    while (heap_.size() > 0 && heap_.elements().front().time_ms <= time_ms) {
      if (output().idle()) {
        output().Emit(fiber, Active{.now_ns = read_ns});
      }
      std::ranges::pop_heap(heap_.elements(), &IsLater);
      this->Add(fiber, stretch, heap_.back().time_ms, heap_.back().record);
      texts_.Drop(heap_.back());
      heap_.PopNewest(*context_->memory, blocks_);
      this->CountWork(fiber, stretch);
    }
    this->HandOn(fiber, stretch);
  }

  TaskContext* context_;
  state::SmallBlocks blocks_;
  state::Fifo<Waiting> heap_;
  [[no_unique_address]] state::ValueTexts<Waiting> texts_;
  std::uint64_t count_ = 0;
};

/// `Origin` is a TimedOrigin.
template <typename Origin, typename R>
class ReorderVertex final : public TimedVertex<Origin, R> {
 public:
  explicit ReorderVertex(Origin origin) : TimedVertex<Origin, R>(std::move(origin)) {}

  bool adds_past_results() const override { return this->origin().vertex->adds_past_results(); }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "reorder", .facts = {"records of an executor in the order of their event times"}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return this->Consuming(graph, std::make_unique<ReorderOperator<R>>(graph.context()));
  }
};

}  // namespace glaive::engine

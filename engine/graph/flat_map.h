// FlatMapOperator: makes any number of records of each record that it takes in, with the same event time.
//
//    producer ── Batch<In> ──► chain ──► expansion ──► buffer ── Batch<TimedRecord<Out>> ──► consumers
//             ── controls ───────────────────────────────────── the same ─────────────►
//
// A fused loop has room for one result a record. So a chain ends in front of a FlatMap, and another one begins behind
// it. A flat map passes the answers of its consumers on to its producer (LeadsTooFar, WantsTurn, watermark_ms).
//
// No record moves to another executor.
//
// Where the expansion has a state with texts, their bytes are in the executor's state memory.
//
// Owned by the executor's task, used by its thread alone. FlatMapVertex is its part of the query's graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/steps/expansions.h"
#include "engine/steps/steps.h"
#include "rdma/base/bytes.h"
#include "state/log/value_texts.h"

namespace glaive::engine {

/// `Origin` is one of api/origin.h. `Expansion` is one of steps/expansions.h: it makes records `Out` of what the chain
/// makes.
template <typename Origin, Step Chain, typename Expansion, typename Out>
class FlatMapOperator final : public TimedOperator<typename Chain::In, Out> {
 public:
  using In = typename Chain::In;

  /// All references outlive the operator.
  FlatMapOperator(TaskContext& context, const Origin& origin, const Chain& chain, Expansion expansion)
      : TimedOperator<In, Out>(context),
        context_(&context),
        origin_(&origin),
        chain_(&chain),
        expansion_(std::move(expansion)) {}

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    const typename TimedProducer<Out>::Stretch stretch{.in_order = batch.in_order, .read_ns = batch.read_ns};
    for (const In& record : batch.records) {
      if (chain_->Selects(record)) {
        const std::int64_t event_time_ms = origin_->event_time_ms(record) + batch.event_time_shift_ms;
        chain_->Push(record, [&](const typename Chain::Out& survivor) {
          const auto add = [&](const Out& made) { this->Add(fiber, stretch, event_time_ms, made); };
          if constexpr (kHasTextsInState<Expansion>) {
            context_->Require(fiber, ChangeState([&] { expansion_(survivor, add); }));
          } else {
            expansion_(survivor, add);
          }
        });
      }
    }
    this->HandOn(fiber, stretch);
  }

  void On(Fiber& fiber, const Control& control) override {
    if constexpr (kHasTextsInState<Expansion>) {
      if (std::holds_alternative<EndOfStream>(control)) {
        texts_.Release(*context_->memory);
      }
    }
    output().Emit(fiber, control);
  }

 private:
  using TimedOperator<In, Out>::output;
  template <typename E>
  struct TextsOf {
    struct Type {};
  };
  template <typename E>
    requires kHasTextsInState<E>
  struct TextsOf<E> {
    using Type = state::ValueTexts<typename E::State>;
  };

  /// Calls `change()`, which changes the state, and owns its texts.
  template <typename ChangeFn>
  absl::Status ChangeState(const ChangeFn& change) {
    const absl::Status status = texts_.Change(*context_->memory, expansion_.state,
                                              std::exchange(age_, state::Age::kKnown), [&](auto&) { change(); });
    return status.ok() ? status
                       : absl::Status(status.code(), absl::StrCat(status.message(), "; the state of the ",
                                                                  std::string(Expansion::kName), " has texts of ",
                                                                  FormatBytes(texts_.size_bytes())));
  }

  TaskContext* context_;
  const Origin* origin_;
  const Chain* chain_;
  Expansion expansion_;
  [[no_unique_address]] typename TextsOf<Expansion>::Type texts_;  // of the expansion's state
  state::Age age_ = state::Age::kNew;                              // of that state
};

template <typename Origin, Step Chain, typename Expansion, typename Out>
class FlatMapVertex final : public TimedVertex<Origin, Out> {
 public:
  FlatMapVertex(Origin from, Chain chain, Expansion expansion)
      : TimedVertex<Origin, Out>(std::move(from)), chain_(std::move(chain)), expansion_(std::move(expansion)) {}

  bool adds_past_results() const override { return origin().vertex->adds_past_results(); }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = std::string(Expansion::kName), .facts = {ChainFact<Chain>()}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return this->Consuming(graph, std::make_unique<FlatMapOperator<Origin, Chain, Expansion, Out>>(
                                      graph.context(), origin(), chain_, expansion_));
  }

 private:
  using TimedVertex<Origin, Out>::origin;

  Chain chain_;
  Expansion expansion_;
};

}  // namespace glaive::engine

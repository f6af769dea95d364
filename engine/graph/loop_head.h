// LoopHead: the beginning of a loop's body on one executor (loop.h).
//
//    producer ── Batch<In> ──► chain ──► stored records
//             ── EndOfStream ──► iterations begin
//                                  each: all stored records, at time r ── Batch<TimedRecord<R>> ──► body
//                                        Watermark r + 1 ───────────────────────────────────────►
//                                        waits for the decision of the loop's leader
//
// A loop that iterates replaces the stored records by those that the iteration has fed back. One that replays has the
// same records in each iteration. Inside of another loop's body the iterations begin with the Watermark that ends an
// iteration there, and the loop runs once in each.
//
// Records are in the executor's state, and count against its budget (invariant I6). No record moves. A fiber of its own
// hands them on, so the producer of its input does not wait for iterations.
//
// Owned by the executor's task, used by its thread alone. LoopHeadVertex is its part of the query's graph.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/scheduler.h"
#include "engine/graph/described_state.h"
#include "engine/graph/loop.h"
#include "engine/graph/loop_store.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/other_consumers.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/steps/steps.h"
#include "rdma/base/bytes.h"
#include "rdma/base/check.h"
#include "state/record/record.h"

namespace glaive::engine {

template <Step Chain, typename State>
class LoopHead final : public TimedProducer<typename Chain::Out>,
                       public Consumer<typename Chain::In>,
                       public Loop<State, typename Chain::Out>,
                       public DescribedState {
 public:
  using In = typename Chain::In;
  using R = typename Chain::Out;

  struct Options {
    State initial;
    bool iterates = false;  // replaces its records by those fed back
    bool is_inner = false;  // runs in each iteration of another loop
    bool is_behind_source = false;
  };

  /// `context` and `chain` outlive the operator.
  LoopHead(TaskContext& context, const Chain& chain, const Options& options)
      : TimedProducer<R>(context), context_(&context), chain_(&chain), options_(options), state_(options.initial) {}

  absl::Status Spawn(Scheduler& scheduler) override {
    return scheduler.Spawn("loop", FiberKind::kCompute, [this](Fiber& fiber) { Run(fiber); });
  }

  // ---- in the fiber of the input's producer -----------------------------------------------------------------------

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    WaitForTakenInput(fiber);
    for (const In& record : batch.records) {
      if (chain_->Selects(record)) {
        chain_->Push(record, [&](const R& survivor) {
          ++accepted_;
          Store(fiber, *input_, survivor);
        });
      }
    }
  }

  void On(Fiber& fiber, const Control& control) override {
    if (const auto* watermark = std::get_if<Watermark>(&control)) {
      if (options_.is_inner) {
        CompleteInput(fiber);
      }
      input_watermark_ms_ = watermark->time_ms;
    } else if (std::holds_alternative<EndOfStream>(control)) {
      if (!options_.is_inner) {
        CompleteInput(fiber);
      }
      input_ended_ = true;
    }
  }

  // ---- in the fibers of the body and of the loop's end ------------------------------------------------------------

  const State& state() const override { return state_; }
  bool has_begun(std::int64_t iteration) const override { return iteration <= begun_; }
  void FeedBack(Fiber& fiber, std::int64_t iteration, const R& record) override {
    GLAIVE_CHECK(iteration == decided_ || iteration == decided_ + 1, "a record of iteration ", iteration,
                 " comes back in iteration ", decided_);
    Store(fiber, iteration == decided_ ? *fed_back_ : *fed_back_early_, record);
  }
  void OnDecision(const LoopDecision<State>& decision) override {
    state_ = decision.state;
    goes_on_ = decision.goes_on == 1;
    ++decided_;
    if (options_.iterates) {
      stored_->Clear(*context_->memory);
      std::swap(stored_, fed_back_);
      std::swap(fed_back_, fed_back_early_);
    }
    iteration_ended_ = true;
  }
  std::int64_t result_watermark_ms() const override { return watermark_ms_; }
  const LoopStore<R>& last_records() const override { return options_.iterates ? *stored_ : none_; }
  void OnResults() override { has_results_ = true; }

  void Measure() override { context_->metrics->records_accepted += options_.is_behind_source ? accepted_ : 0; }

  std::string Describe() const override {
    std::size_t records = 0;
    std::size_t text_bytes = 0;
    for (const LoopStore<R>& store : stores_) {
      records += store.size();
      text_bytes += store.text_bytes();
    }
    return absl::StrCat("a loop stores ", records, " records of ", sizeof(R), " bytes",
                        kHasText<R> ? absl::StrCat(", with ", FormatBytes(text_bytes), " of texts") : "");
  }

 private:
  using Stretch = typename TimedProducer<R>::Stretch;
  using TimedProducer<R>::output;

  void Store(Fiber& fiber, LoopStore<R>& store, const R& record) {
    context_->Require(fiber, Explain(store.Add(*context_->memory, record)));
  }

  /// All records of the next run are there.
  void CompleteInput(Fiber& fiber) {
    WaitForTakenInput(fiber);
    has_input_ = true;
  }
  /// Waits until the run has begun that takes the input of before.
  void WaitForTakenInput(Fiber& fiber) {
    if (has_input_) {
      WaitAndAttend(fiber, *context_->clock, this->others(), [this] { return !has_input_; });
    }
  }

  // ---- in its own fiber -------------------------------------------------------------------------------------------

  void Run(Fiber& fiber) {
    while (true) {
      AttendUntil(fiber, [this] { return has_input_ || input_ended_; });
      if (!has_input_) {
        break;
      }
      std::swap(stored_, input_);
      watermark_ms_ = input_watermark_ms_;
      has_input_ = false;
      RunIterations(fiber);
    }
    output().Emit(fiber, EndOfStream{});
  }

  void RunIterations(Fiber& fiber) {
    goes_on_ = true;
    while (goes_on_) {
      EmitIteration(fiber);
      AttendUntil(fiber, [this] { return std::exchange(iteration_ended_, false); });
    }
    AttendUntil(fiber, [this] { return std::exchange(has_results_, false); });
    stored_->Clear(*context_->memory);
    state_ = options_.initial;
  }

  void EmitIteration(Fiber& fiber) {
    begun_ = decided_;
    const std::int64_t now_ns = context_->clock->NowNanos();
    const Stretch stretch{.in_order = true, .read_ns = now_ns};
    for (std::size_t i = 0; i < stored_->block_count(); ++i) {
      for (const R& record : stored_->block(i)) {
        this->Add(fiber, stretch, begun_, record);
        this->CountWork(fiber, stretch);
      }
    }
    this->HandOn(fiber, stretch);
    output().Emit(fiber, Watermark{.time_ms = begun_ + 1, .read_ns = now_ns});
  }

  /// Waits until `holds()`, which says so once. Meanwhile consumers get the turns that they want.
  template <typename Condition>
  void AttendUntil(Fiber& fiber, const Condition& holds) {
    bool has_come = false;
    while (!has_come) {
      fiber.WaitUntil([&] {
        has_come = has_come || holds();
        return has_come || output().WantsTurn(ThisTurn());
      });
      output().Attend(fiber, ThisTurn());
    }
  }
  Turn ThisTurn() const { return {.now_ns = context_->clock->NowNanos(), .held_up = true}; }

  TaskContext* context_;
  const Chain* chain_;
  Options options_;
  State state_;
  const LoopStore<R> none_;
  std::array<LoopStore<R>, 4> stores_;
  LoopStore<R>* input_ = &stores_[0];           // of the run behind this one
  LoopStore<R>* stored_ = &stores_[1];          // of this iteration
  LoopStore<R>* fed_back_ = &stores_[2];        // for the next iteration
  LoopStore<R>* fed_back_early_ = &stores_[3];  // for the one behind that
  std::uint64_t accepted_ = 0;
  std::int64_t input_watermark_ms_ = kMinEventTimeMs;
  std::int64_t watermark_ms_ = kMinEventTimeMs;  // behind the input of this run
  std::int64_t decided_ = 0;                     // iterations, of all runs
  std::int64_t begun_ = -1;                      // the last iteration
  bool has_input_ = false;
  bool input_ended_ = false;
  bool goes_on_ = true;
  bool iteration_ended_ = false;
  bool has_results_ = false;
};

/// `Origin` is one of api/origin.h.
template <typename Origin, Step Chain, typename State>
class LoopHeadVertex final : public TimedVertex<Origin, typename Chain::Out> {
 public:
  LoopHeadVertex(Origin from, Chain chain, const State& initial, bool iterates)
      : TimedVertex<Origin, typename Chain::Out>(std::move(from)),
        chain_(std::move(chain)),
        initial_(initial),
        iterates_(iterates) {}

  const Vertex* loop() const override { return this; }
  bool has_fiber() const override { return true; }
  std::int64_t delay_ms() const override { return 0; }
  bool goes_by_clock() const override { return false; }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = iterates_ ? "loop that iterates" : "loop that replays",
            .facts = {ChainFact<Chain>(), "stores all records of an executor, and hands them on in each iteration"}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return this->Consuming(
        graph, std::make_unique<LoopHead<Chain, State>>(
                   graph.context(), chain_,
                   typename LoopHead<Chain, State>::Options{.initial = initial_,
                                                            .iterates = iterates_,
                                                            .is_inner = this->origin().vertex->loop() != nullptr,
                                                            .is_behind_source = Origin::kFromSource}));
  }

 private:
  Chain chain_;
  State initial_;
  bool iterates_;
};

}  // namespace glaive::engine

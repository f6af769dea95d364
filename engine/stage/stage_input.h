// StageInput: one of the streams that a stage takes in, on one executor: its chain, its state and its epochs.
//
// As a consumer it runs the chain on batches, folds the resulting records into the store, and ends epochs, in the
// producer's fiber. As a target of deltas it merges the entries that other executors have sent, in the receiving fiber.
// If all records of a key are on one executor already, no executor sends deltas, and the query has no input for them
// (stage_scope.h).
// Owned by its stage, used by its executor's thread alone.
//
//   1. A watermark is passed on only behind all records that it covers (invariant I3).
//   2. Take waits for segments and for the sink of late records, and no epoch ends meanwhile. Merge waits for nothing
//      (I5).
//
//   auto input = StageInput<Plan>::Open(plan, windows, progress, /*stage_input=*/0, stage, graph);
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"

#include "engine/base/take_first.h"
#include "engine/executor/shipper.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/pace.h"
#include "engine/graph/delta_target.h"
#include "engine/graph/described_state.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/other_consumers.h"
#include "engine/progress/flow_progress.h"
#include "engine/progress/stage_progress.h"
#include "engine/stage/fold_loop.h"
#include "engine/stage/late_output.h"
#include "engine/stage/read_ahead.h"
#include "engine/stage/stage_scope.h"
#include "engine/stage/touch_new_tables.h"
#include "engine/window/windows.h"
#include "rdma/base/prefetch.h"
#include "state/epoch/delta_reader.h"
#include "state/store/fragment.h"

namespace glaive::engine {

template <typename Plan>
class StageInput final : public Consumer<typename Plan::Input>, public DeltaTarget {
 public:
  using Store = typename Plan::Store;

  /// Opens the state of the input number `stage_input` of `stage`, and connects it with what is upstream. All outlive
  /// it.
  static absl::StatusOr<std::unique_ptr<StageInput>> Open(const Plan& plan, const Windows& windows,
                                                          StageProgress& progress, std::size_t stage_input,
                                                          const DescribedState& stage, OpenGraph& graph) {
    TaskContext& context = graph.context();
    std::unique_ptr<LateSink> late_sink;
    if constexpr (Plan::kHasLateSink) {
      auto opened = plan.late_sink(
          {.executor = context.self, .executor_count = context.executor_count, .claims = context.claims});
      if (!opened.ok()) {
        return opened.status();
      }
      late_sink = *std::move(opened);
    }
    const StateMembers members = StateMembersOf(context, plan.scope);
    const bool sends = plan.scope != StageScope::kOwnExecutor;
    const std::uint32_t number = graph.next_input();  // of nothing that is sent, unless this input sends
    auto store = Store::Create({.memory = context.memory,
                                .pool = &context.mesh->segments(),
                                .outbox = &graph.shipper().outbox(),
                                .observer = context.delta_observer,
                                .self = members.self,
                                .leaders = members.leaders,
                                .input = number,
                                .geometry = sends ? context.geometries[number] : state::FragmentGeometry{},
                                .fold = plan.has_results_at_end() ? context.fold.ForResultsAtEnd() : context.fold,
                                .names = plan.text_names()});
    if (!store.ok()) {
      return store.status();
    }
    std::unique_ptr<StageInput> input(
        new StageInput(plan, windows, progress, stage_input, stage, graph, std::move(late_sink), *std::move(store)));
    if (sends) {
      graph.AddInput(*input);
    }
    if (plan.scope == StageScope::kOwnState && context.executor_count > 1) {
      input->markers_.emplace(context.mesh->segments(), graph.shipper().outbox(), context.self, context.roles.leaders(),
                              context.geometries[number], Store::kMostEntryBytes, number, context.delta_observer);
    }
    graph.OutputOf(*plan.origin.vertex).Add(*input);
    return input;
  }

  /// The run's clock starts.
  void Start() { progress_.Start(context_->clock->NowNanos()); }

  // ---- as a consumer -----------------------------------------------------------------------------------------------

  void Take(Fiber& fiber, const Batch<typename Plan::Input>& batch) override {
    Process(fiber, batch);
    PublishUnlessHeldBack();
  }

  void On(Fiber& fiber, const Control& control) override {
    std::visit([&](const auto& each) { OnControl(fiber, each); }, control);
  }

  void Flush(Fiber& fiber) override {
    if (progress_.has_news()) {
      EndEpoch(fiber);
    }
  }

  bool WantsTurn(const Turn& turn) const override {
    return ShouldEndEpoch(turn.now_ns) || progress_.ShouldFollow(turn.now_ns) || late_.WantsToPublish(turn.now_ns);
  }
  void Attend(Fiber& fiber, const Turn& turn) override {
    const std::int64_t now_ns = turn.now_ns;
    progress_.Follow(now_ns);
    if (late_.WantsToPublish(now_ns)) {
      context_->Require(fiber, late_.Publish(now_ns));
    }
    if (ShouldEndEpoch(now_ns)) {
      EndEpoch(fiber);
    } else {
      PublishUnlessHeldBack();
    }
  }

  bool LeadsTooFar(std::int64_t ahead_ms) const override { return progress_.LeadsTooFar(ahead_ms); }
  std::optional<std::int64_t> watermark_ms() const override { return progress_.watermark_ms(); }

  // ---- as a target of deltas ---------------------------------------------------------------------------------------

  void Merge(Fiber& fiber, state::DeltaReader& reader, std::int64_t sent_watermark_ms,
             const state::DeltaChunk& chunk) override {
    const state::SliceRange open = windows_.OpenAt(sent_watermark_ms);
    const std::size_t most_in_turn =
        std::min<std::uint64_t>(state::kMostEntries, context_->memory->thresholds().entries_per_turn);
    std::size_t merged_in_turn = 0;
    for (std::span<const std::byte> rest = chunk.runs; !rest.empty();) {
      const absl::StatusOr<state::DeltaRun> run = reader.TakeRun(rest);
      context_->Require(fiber, run.status());
      context_->Require(fiber, store_.CheckRun(reader, *run, open));
      for (std::size_t merged = 0; merged < run->entry_count;) {
        if (merged_in_turn >= most_in_turn) {
          fiber.Yield();
          merged_in_turn = 0;
        }
        OpenAhead(fiber, run->slice, merge_pace_);
        const absl::StatusOr<std::size_t> some = store_.MergeSome(reader, *run, merged);
        context_->Require(fiber, described_->Explain(some.status()));
        progress_.OnEntries(run->read_ns);
        merged += *some;
        merged_in_turn += *some;
      }
    }
    context_->Require(fiber, reader.texts().empty() ? absl::OkStatus() : reader.RefuseTexts());
    if (context_->delta_observer != nullptr) {
      context_->delta_observer->OnMerged(reader.sender(), chunk);
    }
    if (chunk.marker) {
      progress_.OnMarker(reader.sender(), *chunk.marker);
    }
  }

  // ---- for its stage -----------------------------------------------------------------------------------------------

  Store& store() { return store_; }
  const Store& store() const { return store_; }

  /// Adds its counters to the context's metrics.
  void Measure() const {
    ExecutorMetrics& metrics = *context_->metrics;
    metrics.records_accepted += Plan::kFromSource ? fold_loop_.accepted() : 0;
    metrics.late_records += fold_loop_.late();  // of results, only those of a stage that was idle
    metrics.partly_late_records += fold_loop_.partly_late();
    metrics.epochs += progress_.epochs_ended();
    metrics.merges += store_.merged_entries();
    state::TableCounts& tables = metrics;
    tables += store_.primary().counts();
    metrics.folded_records += store_.fold_policy().folded_records();
    metrics.appended_records += store_.fold_policy().appended_records();
    metrics.fold_switches += store_.fold_policy().switches();
    metrics.combiner_renewals += store_.fold_policy().renewals();
    metrics.own_entries += store_.own_entries();
    if (const auto* fragment = store_.fragment()) {
      metrics.delta_entries += fragment->entries();
    }
  }

  void AddParts(std::vector<ResultPart>& parts) const { late_.AddParts(parts); }
  absl::Status Commit() { return late_.Commit(); }

 private:
  using LateSink = Sink<LateRecord<typename Plan::Record>>;
  using Update = typename Store::Update;
  using Records = std::span<const typename Plan::Input>;

  /// What brings records to the store in a fiber; see FoldLoop.
  class Host {
   public:
    Host(StageInput& input, Fiber& fiber) : input_(&input), fiber_(&fiber) {}

    template <typename UseFn>
    void UseFolder(state::SliceId piece, const UseFn& use) {
      input_->store_.UseFolder(piece, use);
    }
    void Enter(state::SliceId piece) {
      if (input_->store_.holds_back_others(piece)) {
        input_->ReadOut(*fiber_);
      }
      input_->store_.Enter(piece);
    }
    void Take(state::SliceId piece, std::span<Update> updates) { input_->TakeUpdates(*fiber_, piece, updates); }
    void Late(std::int64_t event_time_ms, const typename Plan::Record& record) {
      input_->late_.Add(
          {.event_time_ms = event_time_ms, .watermark_ms = input_->progress_.watermark_ms(), .record = record});
    }

   private:
    StageInput* input_;
    Fiber* fiber_;
  };

  static constexpr std::size_t kAddStep = FoldLoop<Plan>::kMaxRecords;
  /// Records filtered at a time: about a source's batch, since reading them from memory starts slowly. In steps of 32,
  /// YSB takes a third longer.
  static constexpr std::size_t kSelectStep =
      std::clamp<std::size_t>((std::size_t{64} << 10) / sizeof(typename Plan::Input), 1, 1024);

  StageInput(const Plan& plan, const Windows& windows, StageProgress& stage_progress, std::size_t stage_input,
             const DescribedState& stage, OpenGraph& graph, std::unique_ptr<LateSink> late_sink, Store store)
      : DeltaTarget(graph.context(), ProgressMembersOf(graph.context(), plan.scope).count, graph.next_input(),
                    Store::kEntryBytes),
        plan_(&plan),
        context_(&graph.context()),
        shipper_(&graph.shipper()),
        described_(&stage),
        windows_(windows),
        late_(std::move(late_sink)),
        store_(std::move(store)),
        fold_loop_(plan, windows_, context_->memory->thresholds().most_pending),
        take_pace_(context_->memory->thresholds().slices_per_turn),
        merge_pace_(context_->memory->thresholds().slices_per_turn),
        progress_(
            {.self = ProgressMembersOf(*context_, plan.scope).self,
             .input = stage_input,
             .of_results = !Plan::kFromSource,
             .goes_by_clock = plan.origin.vertex->goes_by_clock(),
             .policy = plan.has_results_at_end() ? context_->epoch_policy.ForResultsAtEnd() : context_->epoch_policy,
             .max_lead_ms = context_->max_lead_ms,
             // Less than the timeout: a flow that wakes may soon be idle again, and is to be followed before.
             .patience_ns = context_->idle_timeout_ns / 4},
            windows_, stage_progress) {}

  void OnControl(Fiber& /*fiber*/, const Watermark& watermark) {
    const std::int64_t time_ms = HeldBack(watermark.time_ms, plan_->allowed_lateness_ms);
    progress_.OnBatch(0, 0, time_ms, watermark.read_ns);
    PublishUnlessHeldBack();
  }
  void OnControl(Fiber& /*fiber*/, const Idle& idle) { progress_.OnIdle(idle.now_ns); }
  void OnControl(Fiber& /*fiber*/, const Active& /*active*/) { progress_.OnActive(); }
  void OnControl(Fiber& fiber, const EndOfStream& /*end*/) {
    progress_.OnEnd(context_->clock->NowNanos());
    EndEpoch(fiber);
    if (plan_->scope != StageScope::kOwnExecutor) {
      shipper_->EndInput();
    }
    context_->Require(fiber, late_.Finish(Waiting(fiber)));
  }

  bool ShouldEndEpoch(std::int64_t now_ns) const {
    return progress_.has_news() &&
           progress_.ShouldEndEpoch(now_ns, context_->metrics->input_bytes - input_bytes_before_epoch_);
  }

  /// Tells the executor's own leader of the watermark, unless the store holds back records that it covers.
  void PublishUnlessHeldBack() {
    if (!store_.holds_back()) {
      progress_.Publish();
    }
  }

  void Process(Fiber& fiber, const Batch<typename Plan::Input>& batch) {
    Host host(*this, fiber);
    batch_read_ns_ = batch.read_ns;
    if (store_.fragment() != nullptr) {
      store_.fragment()->BeginBatch(batch.read_ns);
    }
    fold_loop_.BeginBatch(progress_.watermark_ms());
    ForEachSelected(batch, [&](auto records, const auto& meanwhile) {
      fold_loop_.Add(records, {.event_time_shift_ms = batch.event_time_shift_ms, .in_order = batch.in_order}, host,
                     meanwhile);
    });
    fold_loop_.Flush(host);
    if (store_.wants_read_out()) {
      ReadOut(fiber);
    }
    progress_.OnBatch(batch.records.size(), batch.records.size_bytes(), progress_.produced_ms(), batch.read_ns);
    context_->Require(fiber, late_.Write(Waiting(fiber)));
  }

  /// How to wait for the sink of late records.
  auto Waiting(Fiber& fiber) {
    return [this, &fiber](const auto& ready) { WaitAndAttend(fiber, *context_->clock, this->others(), ready); };
  }

  /// Calls `add(records, meanwhile)` for the records that the chain's leading filters select, at most kAddStep at a
  /// time: with pointers to them, or with all records as they lie where there are no such filters. `meanwhile()` is to
  /// be called as each becomes pending.
  template <typename AddFn>
  void ForEachSelected(const Batch<typename Plan::Input>& batch, const AddFn& add) {
    if constexpr (!Plan::Chain::kSelects) {
      if (batch.in_order) {
        PrefetchEndsOfSteps(batch.upcoming);
      }
      for (Records rest = batch.records; !rest.empty();) {
        add(TakeFirst(rest, kAddStep), [] {});
      }
    } else {
      for (Records rest = batch.records; !rest.empty();) {
        const std::span<const typename Plan::Input* const> selected = Select(TakeFirst(rest, kSelectStep));
        const Records next = rest.empty() ? batch.upcoming : rest;
        ReadAhead ahead(std::as_bytes(next.first(std::min(next.size(), kSelectStep))), selected.size());
        for (auto some = selected; !some.empty();) {
          add(TakeFirst(some, kAddStep), [&ahead] { ahead.Step(); });
        }
      }
    }
  }

  /// Of records in order, the fold loop first reads the times of a step's first and last record. If it reads little
  /// else (a count of all records), no other load comes early enough to fetch them.
  static void PrefetchEndsOfSteps(Records records) {
    while (!records.empty()) {
      const Records step = TakeFirst(records, kAddStep);
      Prefetch(&step.front());
      Prefetch(&step.back());
    }
  }

  /// At most kSelectStep records. Every pointer is written and those of the selected ones stay: no branch.
  std::span<const typename Plan::Input* const> Select(Records records) {
    std::size_t count = 0;
    for (const typename Plan::Input& record : records) {
      selected_[count] = &record;
      count += plan_->chain.Selects(record) ? 1 : 0;
    }
    return std::span(selected_).first(count);
  }

  /// Brings records to the store, once it has room.
  void TakeUpdates(Fiber& fiber, state::SliceId piece, std::span<Update> updates) {
    OpenAhead(fiber, piece, take_pace_);
    while (!updates.empty()) {
      const std::span<Update> some = TakeFirst(updates, store_.most_at_once());
      WaitForRoom(fiber, some.size());
      context_->Require(fiber, described_->Explain(store_.Take(piece, some)));
      if (store_.leads() && store_.primary().Oldest() != nullptr) {
        progress_.OnEntries(batch_read_ns_);
      }
    }
  }

  /// Hands over the records that the store holds back.
  void ReadOut(Fiber& fiber) {
    for (Pace pace(context_->memory->thresholds().entries_per_turn); store_.holds_back();) {
      OpenAhead(fiber, store_.held_back_slice(), take_pace_);
      WaitForRoom(fiber, store_.most_at_once());
      context_->Require(fiber, described_->Explain(store_.ReadOutSome()));
      pace.Step(fiber, state::kMostEntries);
    }
  }

  /// Before entries of a slice come to the state: opens its table if that will be large, and gives large new tables
  /// their memory. A batch may have a slice of its own for each record, so `pace` ends the turn after some slices.
  void OpenAhead(Fiber& fiber, state::SliceId slice, Pace& pace) {
    if (!store_.leads()) {
      return;
    }
    if (store_.primary().LastOpened(slice) == nullptr) [[unlikely]] {
      pace.Step(fiber);
      if (store_.primary().OpensLargeTable(slice)) {
        context_->Require(fiber, described_->Explain(store_.primary().Open(slice).status()));
        ++context_->metrics->opened_ahead;
      }
    }
    TouchNewTables(fiber, *context_->memory);
  }

  void WaitForRoom(Fiber& fiber, std::size_t entries) {
    if (!store_.HasRoom(entries)) [[unlikely]] {
      ++context_->metrics->segment_waits;
      fiber.WaitUntil([&] { return store_.HasRoom(entries); });
    }
  }

  /// Seals the fragment, or a marker alone, an executor at a time; waits while there is no segment for a marker.
  void EndEpoch(Fiber& fiber) {
    ReadOut(fiber);
    const state::EpochMarker marker = progress_.EndEpoch(context_->clock->NowNanos());
    input_bytes_before_epoch_ = context_->metrics->input_bytes;
    context_->live->epochs.fetch_add(1, std::memory_order_relaxed);
    state::Fragment* const fragment = markers_ ? &*markers_ : store_.fragment();
    if (fragment == nullptr) {
      return;
    }
    for (std::uint32_t turn = 0; turn < context_->peer_count(); ++turn) {
      while (!fragment->TrySeal(context_->Peer(turn), marker)) {
        fiber.WaitUntil([&] { return context_->mesh->segments().available() > 0; });
      }
    }
    fragment->AllSealed();
  }

  const Plan* plan_;
  TaskContext* context_;
  Shipper* shipper_;
  const DescribedState* described_;
  Windows windows_;
  LateOutput<typename Plan::Record> late_;
  Store store_;
  std::optional<state::Fragment> markers_;  // where entries stay and markers do not
  FoldLoop<Plan> fold_loop_;
  Pace take_pace_;   // of the producer's fiber, by slices
  Pace merge_pace_;  // of the receiving fiber
  FlowProgress progress_;
  std::uint64_t input_bytes_before_epoch_ = 0;  // that the executor's sources had read
  std::int64_t batch_read_ns_ = 0;              // when the current batch was read
  std::array<const typename Plan::Input*, Plan::Chain::kSelects ? kSelectStep : 0> selected_;
};

}  // namespace glaive::engine

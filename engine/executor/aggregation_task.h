// AggregationTask: one executor's part of a keyed, windowed aggregation, as fibers:
//
//   source    reads batches, runs the fused pipeline, folds the survivors into the store, ends epochs; writes what is
//             late to the sink for that                                        (late_output.h)
//   ship to e sends sealed segments to leader e                                 (delta_shipper.h)
//   merge e   takes in the deltas of executor e, then its watermark
//   trigger   fires windows that every executor has passed                     (window_trigger.h)
//
// Owned by the executor, used by its thread alone. Who may wait for whom:
//
//   1. merge waits for nothing but the next message (invariant I5): it uses primary memory only.
//   2. source waits for segments, for slower flows (I6, I7), and for the sink of late records; trigger for the clock
//      and the sink.
//   3. trigger fires a window once min_ms() has passed its end; merge and source change no such window (I4).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/api/query.h"
#include "engine/executor/aggregation_plan.h"
#include "engine/executor/delta_shipper.h"
#include "engine/executor/late_output.h"
#include "engine/executor/record_stage.h"
#include "engine/executor/task_context.h"
#include "engine/executor/window_trigger.h"
#include "engine/progress/flow_progress.h"
#include "state/epoch/delta_reader.h"

namespace glaive::engine {

template <typename Plan>
class AggregationTask final : public QueryTask {
 public:
  using Row = typename Plan::Row;

  /// Opens source, store and sink. `plan` and `context` outlive the task.
  static absl::StatusOr<std::unique_ptr<QueryTask>> Open(const Plan& plan, TaskContext& context) {
    auto source =
        plan.source.open({.executor = context.self, .executor_count = context.executor_count, .clock = context.clock});
    if (!source.ok()) {
      return source.status();
    }
    auto sink = plan.sink({.executor = context.self, .executor_count = context.executor_count});
    if (!sink.ok()) {
      return sink.status();
    }
    std::unique_ptr<LateSink> late_sink;
    if constexpr (Plan::kKeepsLate) {
      auto opened = plan.late_sink({.executor = context.self, .executor_count = context.executor_count});
      if (!opened.ok()) {
        return opened.status();
      }
      late_sink = *std::move(opened);
    }
    auto store = Plan::Store::Create(*context.memory, context.mesh->segments(), context.self, context.executor_count,
                                     context.geometry);
    if (!store.ok()) {
      return store.status();
    }
    return std::unique_ptr<QueryTask>(new AggregationTask(plan, context, *std::move(source), *std::move(sink),
                                                          std::move(late_sink), *std::move(store)));
  }

  absl::Status Spawn(Scheduler& scheduler) override {
    progress_.Start(context_->clock->NowNanos());
    for (std::uint32_t turn = 0; turn < context_->peer_count(); ++turn) {
      const ExecutorId peer = context_->Peer(turn);
      absl::Status status = scheduler.Spawn(absl::StrCat("merge ", Value(peer)), FiberKind::kRdma,
                                            [this, peer](Fiber& fiber) { MergeFrom(fiber, peer); });
      if (!status.ok()) {
        return status;
      }
    }
    absl::Status status = shipper_.Spawn(scheduler);
    status.Update(scheduler.Spawn("source", FiberKind::kCompute, [this](Fiber& fiber) { ReadSource(fiber); }));
    status.Update(scheduler.Spawn("trigger", FiberKind::kCompute, [this](Fiber& fiber) { FireWindows(fiber); }));
    return status;
  }

  absl::Status Commit() override {
    absl::Status status = sink_->Commit();
    status.Update(late_.Commit());
    return status;
  }

  void Measure() override {
    ExecutorMetrics& metrics = *context_->metrics;
    metrics.records_kept = stage_.kept();
    metrics.late_records = stage_.late();
    metrics.partly_late_records = stage_.partly_late();
    metrics.idle_periods = progress_.idleness().periods();
    metrics.idle_ns = progress_.idleness().idle_ns();
    const SourceFindings findings = source_->findings();
    metrics.bad_records = findings.bad_records;
    metrics.first_bad_record = findings.first_bad_record;
    metrics.outside_records = findings.outside_records;
    metrics.epochs = progress_.epochs_ended();
    metrics.merges = store_.merged_entries();
    metrics.slice_merges = trigger_.merges();
    metrics.index_growths = store_.primary().index_growths();
    metrics.state_bytes = context_->memory->mapped_bytes();
    if (const auto* fragment = store_.fragment()) {
      metrics.folded_records = fragment->updates();
      metrics.delta_entries = fragment->entries();
    }
    shipper_.Measure();
  }

 private:
  using LateSink = Sink<LateRecord<typename Plan::Record>>;
  using Store = typename Plan::Store;
  using Update = typename Store::Update;
  using Entry = typename Store::Entry;

  static constexpr std::size_t kSelectStep = RecordStage<Plan>::kMaxRecords;  // records filtered at a time
  static constexpr std::size_t kMergeStep = 2048;                             // entries merged in one turn

  AggregationTask(const Plan& plan, TaskContext& context, std::unique_ptr<Source<typename Plan::Input>> source,
                  std::unique_ptr<Sink<Row>> sink, std::unique_ptr<LateSink> late_sink, Store store)
      : plan_(&plan),
        context_(&context),
        windows_(plan.window),
        source_(std::move(source)),
        sink_(std::move(sink)),
        late_(std::move(late_sink)),
        store_(std::move(store)),
        stage_(plan, windows_),
        shipper_(context),
        progress_({.self = context.self,
                   .executor_count = context.executor_count,
                   .policy = context.epoch_policy,
                   .max_lead_ms = context.max_lead_ms,
                   .idle_timeout_ns = context.idle_timeout_ns},
                  windows_),
        trigger_(context, windows_, store_, progress_, *sink_) {}

  // ---- source ----------------------------------------------------------------------------------------------------

  void ReadSource(Fiber& fiber) {
    context_->metrics->first_batch_ns = context_->clock->NowNanos();
    bool ended = false;
    std::int64_t source_watermark_ms = kMinEventTimeMs;  // the flow's own may be ahead of it, after it was idle
    while (!ended) {
      WaitForSlowerFlows(fiber);
      SourceBatch<typename Plan::Input> batch = source_->Poll();
      batch.watermark_ms = HeldBack(batch.watermark_ms, plan_->allowed_lateness_ms);
      const std::int64_t read_ns = context_->clock->NowNanos();
      ended = batch.ended;
      if (!batch.records.empty() || batch.watermark_ms > source_watermark_ms || ended) {
        source_watermark_ms = batch.watermark_ms;
        progress_.OnActivity(read_ns);
      } else {
        progress_.OnSilence(read_ns);
      }
      if (!batch.records.empty() || batch.watermark_ms > progress_.watermark_ms()) {  // time may pass without records
        Process(fiber, batch, read_ns);
      }
      ShowProgress();
      if (progress_.ShouldEndEpoch(read_ns)) {
        EndEpoch(fiber);
      }
      if (batch.records.empty() && !ended) {
        fiber.WaitUntil([&] { return source_->Ready() || AttentionIsDue(); });
      } else {
        fiber.Yield();
      }
    }
    if (absl::Status status = source_->status(); !status.ok()) {
      Fail(fiber, status);
    }
    progress_.OnEnd(context_->clock->NowNanos());
    EndEpoch(fiber);
    shipper_.Close();
    Require(fiber, late_.Finish(fiber));
  }

  void Process(Fiber& fiber, const SourceBatch<typename Plan::Input>& batch, std::int64_t read_ns) {
    const auto flush = [&](state::SliceId slice, std::span<const Update> updates) { Fold(fiber, slice, updates); };
    const auto late = [&](std::int64_t event_time_ms, const typename Plan::Record& record) {
      late_.Add({.event_time_ms = event_time_ms, .watermark_ms = progress_.watermark_ms(), .record = record});
    };
    stage_.BeginBatch(progress_.watermark_ms());
    for (std::size_t first = 0; first < batch.records.size(); first += kSelectStep) {
      const std::size_t count = std::min(kSelectStep, batch.records.size() - first);
      stage_.Add(Select(batch.records.subspan(first, count)), batch.event_time_shift_ms,
                 typename Store::Prefetcher(store_), flush, late);
    }
    stage_.Flush(flush);
    ExecutorMetrics& metrics = *context_->metrics;
    const std::uint64_t bytes = batch.records.size_bytes();
    metrics.records += batch.records.size();
    metrics.input_bytes += bytes;
    progress_.OnBatch(batch.records.size(), bytes, std::max(batch.watermark_ms, progress_.watermark_ms()), read_ns);
    Require(fiber, late_.Write(fiber));
  }

  /// Whether there is something to do without records: an epoch to end, or other flows to follow.
  bool AttentionIsDue() const {
    const std::int64_t now_ns = context_->clock->NowNanos();
    return (progress_.has_news() && progress_.ShouldEndEpoch(now_ns)) || progress_.ShouldFollow(now_ns);
  }

  void ShowProgress() {
    LiveProgress& live = *context_->live;
    live.records.store(context_->metrics->records, std::memory_order_relaxed);
    live.epochs.store(progress_.epochs_ended(), std::memory_order_relaxed);
    live.watermark_ms.store(progress_.watermark_ms(), std::memory_order_relaxed);
    live.idle.store(progress_.idleness().idle(), std::memory_order_relaxed);
  }

  /// The records that the chain's leading filters keep: pointers to them, or all of them as they lie where there are no
  /// such filters. Every pointer is written and those of the kept ones stay: no branch.
  auto Select(std::span<const typename Plan::Input> records) {
    if constexpr (!Plan::Chain::kSelects) {
      return records;
    } else {
      std::size_t count = 0;
      for (const typename Plan::Input& record : records) {
        selected_[count] = &record;
        count += plan_->chain.Selects(record) ? 1 : 0;
      }
      return std::span<const typename Plan::Input* const>(selected_).first(count);
    }
  }

  /// Folds a group into the store, ending the epoch early when the fragment is full.
  void Fold(Fiber& fiber, state::SliceId slice, std::span<const Update> updates) {
    if (!store_.HasRoom(updates.size())) [[unlikely]] {
      if (store_.IsFull(updates.size())) {
        ++context_->metrics->early_epoch_ends;
        EndEpoch(fiber);
      }
      fiber.WaitUntil([&] { return store_.HasRoom(updates.size()); });
    }
    Require(fiber, store_.Apply(slice, updates));
  }

  /// Seals the fragment into the outbox, a leader at a time; waits while there is no segment for a marker.
  void EndEpoch(Fiber& fiber) {
    const state::EpochMarker marker = progress_.EndEpoch(context_->clock->NowNanos());
    auto* fragment = store_.fragment();
    if (fragment == nullptr) {
      return;
    }
    for (std::uint32_t turn = 0; turn < context_->peer_count(); ++turn) {
      while (!fragment->TrySeal(context_->Peer(turn), marker, shipper_.outbox())) {
        fiber.WaitUntil([&] { return context_->mesh->segments().available() > 0; });
      }
    }
    fragment->Clear();
  }

  /// Invariant I7. The epoch ends first, or the others might be waiting for this flow's stale clock.
  void WaitForSlowerFlows(Fiber& fiber) {
    if (progress_.LeadsTooFar()) {
      if (progress_.has_news()) {
        EndEpoch(fiber);
      }
      fiber.WaitUntil([&] { return !progress_.LeadsTooFar(); });
    }
  }

  // ---- merge -----------------------------------------------------------------------------------------------------

  void MergeFrom(Fiber& fiber, ExecutorId peer) {
    rdma::ChannelReceiver& channel = context_->mesh->receiver(peer);
    state::DeltaReader reader(peer, context_->self, sizeof(Entry));
    while (reader.watermark_ms() != kMaxEventTimeMs) {
      fiber.WaitUntil([&] { return channel.Ready() || (channel.FlushCredits(), false); });
      MergeMessage(fiber, channel, reader);
      fiber.Yield();
    }
    fiber.WaitUntil([&] { return channel.FlushCredits(); });
  }

  void MergeMessage(Fiber& fiber, rdma::ChannelReceiver& channel, state::DeltaReader& reader) {
    const absl::StatusOr<std::optional<rdma::Message>> message = channel.TryReceive();
    if (!message.ok()) {
      Fail(fiber, message.status());
    }
    if (!message->has_value()) {
      return;
    }
    const state::SliceRange open = windows_.OpenAt(reader.watermark_ms());
    const absl::StatusOr<state::DeltaChunk> chunk = reader.Read(**message);
    if (!chunk.ok()) {
      Fail(fiber, chunk.status());
    }
    std::span<const Entry> entries(reinterpret_cast<const Entry*>(chunk->entries.data()), chunk->entry_count);
    while (!entries.empty()) {
      const std::span<const Entry> step = entries.first(std::min(kMergeStep, entries.size()));
      Require(fiber, store_.Merge(reader, step, open));
      entries = entries.subspan(step.size());
      if (!entries.empty()) {
        fiber.Yield();
      }
    }
    if (chunk->marker) {
      progress_.OnMarker(reader.sender(), *chunk->marker);
    }
    channel.Release();
  }

  void FireWindows(Fiber& fiber) { Require(fiber, trigger_.Run(fiber)); }

  void Require(Fiber& fiber, const absl::Status& status) {
    if (!status.ok()) [[unlikely]] {
      Fail(fiber, status);
    }
  }

  /// Ends the run with an error that says who met it and when.
  [[noreturn]] void Fail(Fiber& fiber, const absl::Status& status) {
    context_->FailAndPark(
        fiber, absl::Status(status.code(), absl::StrCat("executor ", Value(context_->self), ", epoch ",
                                                        progress_.epochs_ended() + 1, ": ", status.message())));
  }

  const Plan* plan_;
  TaskContext* context_;
  Windows windows_;
  std::unique_ptr<Source<typename Plan::Input>> source_;
  std::unique_ptr<Sink<Row>> sink_;
  LateOutput<typename Plan::Record> late_;
  Store store_;
  RecordStage<Plan> stage_;
  DeltaShipper shipper_;
  FlowProgress progress_;
  WindowTrigger<Plan> trigger_;
  std::array<const typename Plan::Input*, Plan::Chain::kSelects ? kSelectStep : 0> selected_;
};

}  // namespace glaive::engine

// SourceReader: a source on one executor: a fiber that reads batches and hands them to all consumers of the stream.
//
//   source    polls, hands over, waits for slower flows (I7), for sources that are behind, and for something to read
//
// No record moves: each executor that reads (engine/executor/roles.h) reads its own part of the stream.
//
// SourceVertex is the source in the query's graph. There is one, however many consumers the source has.
//
//   auto vertex = std::make_shared<const SourceVertex<R>>(spec);
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/output.h"
#include "engine/graph/vertex.h"
#include "engine/progress/idleness.h"
#include "engine/source/empty_source.h"
#include "engine/source/schedule_metrics.h"
#include "engine/source/source.h"

namespace glaive::engine {

template <typename R>
class SourceReader final : public Producer<R>, public OrderedReader {
 public:
  /// `part` is that of its vertex (OpenGraph::part).
  SourceReader(TaskContext& context, const ReadingOrder& order, std::unique_ptr<Source<R>> source, bool has_event_times,
               std::size_t part)
      : context_(&context),
        order_(&order),
        source_(std::move(source)),
        idleness_(context.idle_timeout_ns),
        has_event_times_(has_event_times),
        part_(part) {}

  absl::Status Spawn(Scheduler& scheduler) override {
    return scheduler.Spawn("source", FiberKind::kCompute, [this](Fiber& fiber) { Read(fiber); });
  }

  void Measure() override {
    ExecutorMetrics& metrics = *context_->metrics;
    metrics.idle_periods += idleness_.periods();
    metrics.idle_ns += idleness_.idle_ns();
    const SourceFindings findings = source_->findings();
    metrics.bad_records += findings.bad_records;
    metrics.outside_records += findings.outside_records;
    if (metrics.first_bad_record.empty()) {
      metrics.first_bad_record = findings.first_bad_record;
    }
  }

  std::int64_t watermark_ms() const override {
    return output().least_watermark_ms().value_or(ended_ ? kEndedMs : output().watermark_ms());
  }
  bool CanRead() const override {
    return !ended_ && !output().is_emitting() && source_->Ready() && !output().LeadsTooFar();
  }
  bool idle() const override { return idleness_.idle(); }
  bool has_event_times() const override { return has_event_times_; }
  std::size_t part() const override { return part_; }

 private:
  using Producer<R>::output;

  void Read(Fiber& fiber) {
    ExecutorMetrics& metrics = *context_->metrics;
    metrics.first_batch_ns = metrics.first_batch_ns == 0 ? context_->clock->NowNanos() : metrics.first_batch_ns;
    while (!ended_) {
      if (output().idle() && source_->Ready()) {
        Wake(fiber, context_->clock->NowNanos());
      }
      WaitForSlowerFlows(fiber);
      WaitForTurn(fiber);
      const bool was_ready = source_->Ready();
      const SourceBatch<R> batch = source_->Poll();
      if (batch.ended) {
        // The last batch of a source that has failed stays here: its watermark may pass records that were not read, and
        // windows must not fire, and be published, without these.
        context_->Require(fiber, source_->status());
      }
      const std::int64_t read_ns = context_->clock->NowNanos();
      metrics.records += batch.records.size();
      metrics.input_bytes += batch.records.size_bytes();
      schedule_metrics_.Note(batch, read_ns, metrics);
      HandOn(fiber, batch, was_ready, read_ns);
      output().Attend(fiber, {.now_ns = read_ns});
      ended_ = batch.ended;
      ShowProgress();
      if (batch.records.empty() && !ended_) {
        fiber.WaitUntil([&] { return source_->Ready() || AttentionIsDue(); });
      } else {
        fiber.Yield();
      }
    }
    output().Emit(fiber, EndOfStream{});
  }

  /// An empty batch of a source that had nothing to read, and whose watermark has not moved, is silence. Without event
  /// times there are no watermarks, whatever the source says: no stream waits for what has none.
  void HandOn(Fiber& fiber, const SourceBatch<R>& batch, bool was_ready, std::int64_t read_ns) {
    // The end of the stream is a control of its own, and no watermark.
    const std::int64_t watermark_ms = batch.watermark_ms != kEndedMs ? batch.watermark_ms
                                      : batch.ended                  ? output().watermark_ms()
                                                                     : kEndedMs - 1;
    const bool moves = has_event_times_ && watermark_ms > output().watermark_ms();
    if (batch.records.empty() && !moves && !was_ready && !batch.ended) {
      if (idleness_.OnSilence(read_ns)) {
        output().Emit(fiber, Idle{.now_ns = read_ns});
      }
      return;
    }
    Wake(fiber, read_ns);
    const std::int64_t since_ns = batch.due_ns != 0 ? batch.due_ns : read_ns;
    if (!batch.records.empty()) {
      output().Emit(fiber, Batch<R>{.records = batch.records,
                                    .event_time_shift_ms = batch.event_time_shift_ms,
                                    .in_order = batch.in_order,
                                    .upcoming = batch.upcoming,
                                    .read_ns = since_ns});
    }
    if (moves) {
      output().Emit(fiber, Watermark{.time_ms = watermark_ms, .read_ns = since_ns});
    }
  }

  /// The source has something to read, or has ended: it is not idle.
  void Wake(Fiber& fiber, std::int64_t now_ns) {
    idleness_.OnActivity(now_ns);
    if (output().idle()) {
      output().Emit(fiber, Active{.now_ns = now_ns});
    }
  }

  /// Lets sources that are behind read first.
  void WaitForTurn(Fiber& fiber) {
    AttendUntil(fiber, [&] { return order_->IsTurnOf(*this); });
  }

  /// Waits for other flows until `holds()`. Meanwhile consumers get the turns that they want.
  template <typename Condition>
  void AttendUntil(Fiber& fiber, const Condition& holds) {
    const auto turn = [this] { return Turn{.now_ns = context_->clock->NowNanos(), .held_up = true}; };
    while (!holds()) {
      fiber.WaitUntil([&] { return holds() || output().WantsTurn(turn()); });
      output().Attend(fiber, turn());
    }
  }

  bool AttentionIsDue() const {
    const std::int64_t now_ns = context_->clock->NowNanos();
    return idleness_.Due(now_ns) || output().WantsTurn({.now_ns = now_ns});
  }

  /// Invariant I7. The epoch ends first, or the others might be waiting for this flow's stale clock.
  void WaitForSlowerFlows(Fiber& fiber) {
    if (output().LeadsTooFar()) {
      output().Flush(fiber);
      AttendUntil(fiber, [&] { return !output().LeadsTooFar(); });
    }
  }

  void ShowProgress() {
    LiveProgress& live = *context_->live;
    live.records.store(context_->metrics->records, std::memory_order_relaxed);
    live.watermark_ms.store(order_->watermark_ms(), std::memory_order_relaxed);
    live.idle.store(order_->all_idle(), std::memory_order_relaxed);
  }

  TaskContext* context_;
  const ReadingOrder* order_;
  std::unique_ptr<Source<R>> source_;
  Idleness idleness_;
  bool has_event_times_;
  std::size_t part_;
  ScheduleMetrics schedule_metrics_;
  bool ended_ = false;
};

template <typename R>
class SourceVertex final : public ProducerVertex<R> {
 public:
  template <typename EventTime>
  explicit SourceVertex(SourceSpec<R, EventTime> spec)
      : open_(std::move(spec.open)),
        memory_bytes_(spec.memory_bytes),
        compared_inputs_(std::move(spec.compared_inputs)),
        each_process_reads_(spec.each_process_reads),
        has_event_times_(!std::is_same_v<EventTime, NoEventTime>) {}

  std::vector<const Vertex*> upstream() const override { return {}; }
  bool has_fiber() const override { return true; }
  std::uint64_t source_memory_bytes() const override { return memory_bytes_; }
  std::vector<ComparedInput> compared_inputs() const override { return compared_inputs_; }

  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "source", .facts = {has_event_times_ ? "with event times" : "without event times"}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    TaskContext& context = graph.context();
    const Roles& roles = context.roles;
    if (each_process_reads_ && !context.process_reads) {
      return absl::InvalidArgumentError(
          "each node has records of its own, such as those of a queue, and no executor of this node reads: with "
          "--engine=uppar give each node two --executors or more");
    }
    auto source = roles.Reads(context.self)
                      ? open_({.executor = ExecutorId{roles.ReaderOf(context.self)},
                               .executor_count = roles.reader_count(),
                               .clock = context.clock,
                               .watch = context.watch})
                      : absl::StatusOr<std::unique_ptr<Source<R>>>(std::make_unique<EmptySource<R>>());
    if (!source.ok()) {
      return source.status();
    }
    auto reader = std::make_unique<SourceReader<R>>(context, graph.reading_order(), *std::move(source),
                                                    has_event_times_, graph.part());
    graph.reading_order().Add(*reader);
    return reader;
  }

 private:
  SourceFactory<R> open_;
  std::uint64_t memory_bytes_;
  std::vector<ComparedInput> compared_inputs_;
  bool each_process_reads_;
  bool has_event_times_;
};

}  // namespace glaive::engine

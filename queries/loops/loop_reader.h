// LoopReader: what a hand-written loop reads of a source, a batch at a time.
//
// Used by its executor's thread alone.
//
//   absl::StatusOr<std::shared_ptr<LoopReader<Bid>>> reader = LoopReader<Bid>::Open(bids, context);
//   LoopInput<Bid> input = (*reader)->Read(fiber);
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/source/schedule_metrics.h"
#include "engine/source/source.h"
#include "queries/loops/loop_input.h"

namespace glaive::queries {

template <typename R>
class LoopReader {
 public:
  /// `context` outlives the reader.
  template <typename EventTime>
  static absl::StatusOr<std::shared_ptr<LoopReader>> Open(const engine::SourceSpec<R, EventTime>& spec,
                                                          engine::TaskContext& context) {
    absl::StatusOr<std::unique_ptr<engine::Source<R>>> source =
        spec.open({.executor = context.self, .clock = context.clock, .watch = context.watch});
    if (!source.ok()) {
      return source.status();
    }
    return std::shared_ptr<LoopReader>(new LoopReader(context, *std::move(source), spec.event_time_ms));
  }

  /// The next batch, once there is one; it is valid until the next call. Other fibers get their turns meanwhile. Ends
  /// the run if the source has failed, or if its records are in no order of event time.
  LoopInput<R> Read(engine::Fiber& fiber) {
    engine::ExecutorMetrics& metrics = *context_->metrics;
    if (metrics.first_batch_ns == 0) {
      metrics.first_batch_ns = context_->clock->NowNanos();
    }
    fiber.Yield();
    engine::SourceBatch<R> batch = source_->Poll();
    while (batch.records.empty() && !batch.ended) {
      fiber.WaitUntil([this] { return source_->Ready(); });
      batch = source_->Poll();
    }
    if (batch.ended) {
      context_->Require(fiber, source_->status());
    }
    CheckOrder(fiber, batch);
    schedule_metrics_.Note(batch, context_->clock->NowNanos(), metrics);
    metrics.records += batch.records.size();
    metrics.records_accepted += batch.records.size();
    metrics.input_bytes += batch.records.size_bytes();
    context_->live->records.store(metrics.records, std::memory_order_relaxed);
    return {.records = batch.records, .shift_ms = batch.event_time_shift_ms, .ended = batch.ended};
  }

  /// The event time of the last record.
  std::int64_t last_ms() const { return last_ms_; }

 private:
  LoopReader(engine::TaskContext& context, std::unique_ptr<engine::Source<R>> source,
             std::function<std::int64_t(const R&)> event_time_ms)
      : context_(&context), source_(std::move(source)), event_time_ms_(std::move(event_time_ms)) {}

  void CheckOrder(engine::Fiber& fiber, const engine::SourceBatch<R>& batch) {
    if (batch.records.empty()) {
      return;
    }
    if (!batch.in_order || event_time_ms_(batch.records.front()) + batch.event_time_shift_ms < last_ms_) {
      context_->Fail(fiber, absl::InvalidArgumentError(
                                "records are in no order of event time, and --engine=loop has no state for late ones"));
    }
    last_ms_ = event_time_ms_(batch.records.back()) + batch.event_time_shift_ms;
  }

  engine::TaskContext* context_;
  std::unique_ptr<engine::Source<R>> source_;
  std::function<std::int64_t(const R&)> event_time_ms_;
  engine::ScheduleMetrics schedule_metrics_;
  std::int64_t last_ms_ = engine::kMinEventTimeMs;
};

}  // namespace glaive::queries

// SourceReader: a source on one executor: a fiber that reads batches and hands them to all consumers of the stream.
//
//   source    polls, hands over, waits for slower flows (I7), for sources that are behind, and for something to read
//
// No record moves: each executor that reads (engine/executor/roles.h) reads its own part of the stream. Owned by the
// executor's task, used by its thread alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"

#include "engine/executor/task_context.h"
#include "engine/flow/batch.h"
#include "engine/flow/control.h"
#include "engine/graph/ordered_producer.h"
#include "engine/graph/polled_source.h"
#include "engine/source/source.h"

namespace glaive::engine {

template <typename R>
class SourceReader final : public OrderedProducer<R> {
 public:
  /// All outlive it. `part` is that of its vertex (OpenGraph::part).
  SourceReader(TaskContext& context, ReadingOrder& order, std::unique_ptr<Source<R>> source, bool has_event_times,
               std::size_t part)
      : OrderedProducer<R>(context, order, has_event_times, part),
        source_(context, std::move(source), has_event_times) {}

  absl::Status Spawn(Scheduler& scheduler) override {
    return scheduler.Spawn("source", FiberKind::kCompute, [this](Fiber& fiber) { Read(fiber); });
  }

  void Measure() override { source_.Measure(); }

  bool idle() const override { return source_.idle(); }

 private:
  using OrderedProducer<R>::output;

  bool HasMore() const override { return source_.Ready(); }

  void Read(Fiber& fiber) {
    this->context().BeginSource();
    while (!this->ended()) {
      if (output().idle() && source_.Ready()) {
        const std::int64_t now_ns = this->context().clock->NowNanos();
        source_.Wake(now_ns);
        EndIdleness(fiber, now_ns);
      }
      this->WaitForTurn(fiber);
      const PolledBatch<R> batch = source_.Poll(fiber);
      HandOn(fiber, batch);
      output().Attend(fiber, {.now_ns = batch.read_ns});
      if (batch.ended) {
        this->SetEnded();
      }
      this->ShowProgress();
      if (batch.records.empty() && !batch.ended) {
        fiber.WaitUntil([&] { return source_.Ready() || AttentionIsDue(); });
      } else {
        fiber.Yield();
      }
    }
    output().Emit(fiber, EndOfStream{});
  }

  void HandOn(Fiber& fiber, const PolledBatch<R>& batch) {
    if (batch.is_silence) {
      if (batch.becomes_idle) {
        output().Emit(fiber, Idle{.now_ns = batch.read_ns});
      }
      return;
    }
    EndIdleness(fiber, batch.read_ns);
    if (!batch.records.empty()) {
      output().Emit(fiber, Batch<R>{.records = batch.records,
                                    .event_time_shift_ms = batch.event_time_shift_ms,
                                    .in_order = batch.in_order,
                                    .upcoming = batch.upcoming,
                                    .read_ns = batch.since_ns});
    }
    if (batch.moves) {
      output().Emit(fiber, Watermark{.time_ms = batch.watermark_ms, .read_ns = batch.since_ns});
    }
  }

  void EndIdleness(Fiber& fiber, std::int64_t now_ns) {
    if (output().idle()) {
      output().Emit(fiber, Active{.now_ns = now_ns});
    }
  }

  bool AttentionIsDue() const {
    const std::int64_t now_ns = this->context().clock->NowNanos();
    return source_.IdlenessIsDue(now_ns) || output().WantsTurn({.now_ns = now_ns});
  }

  PolledSource<R> source_;
};

}  // namespace glaive::engine

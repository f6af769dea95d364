// PolledSource: a source on the executor that reads it. It polls the source, counts what it brings, and says when it
// becomes idle.
//
//   const PolledBatch<R> batch = source.Poll(fiber);
//   if (batch.becomes_idle) ...
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/progress/idleness.h"
#include "engine/source/schedule_metrics.h"
#include "engine/source/source.h"

namespace glaive::engine {

/// The result of a poll. `watermark_ms` is the furthest so far.
template <typename R>
struct PolledBatch : SourceBatch<R> {
  bool moves = false;         // whether the watermark is further than before
  bool is_silence = false;    // the source had nothing to read, and its watermark has not moved
  bool becomes_idle = false;  // by this silence
  std::int64_t read_ns = 0;   // when the source was polled
  std::int64_t since_ns = 0;  // when latencies begin: by the source's schedule, or when it was polled
};

template <typename R>
class PolledSource {
 public:
  /// `context` outlives it.
  PolledSource(TaskContext& context, std::unique_ptr<Source<R>> source, bool has_event_times)
      : context_(&context),
        source_(std::move(source)),
        idleness_(context.idle_timeout_ns),
        has_event_times_(has_event_times) {}

  bool Ready() const { return source_->Ready(); }

  /// The next batch. A source that has failed ends the run.
  PolledBatch<R> Poll(Fiber& fiber) {
    const bool was_ready = source_->Ready();
    PolledBatch<R> batch{source_->Poll()};
    if (batch.ended) {
      // The last batch of a source that has failed stays here: its watermark may pass records that were not read, and
      // windows must not fire, and be published, without these.
      context_->Require(fiber, source_->status());
    }
    batch.read_ns = context_->clock->NowNanos();
    batch.since_ns = batch.due_ns != 0 ? batch.due_ns : batch.read_ns;
    ExecutorMetrics& metrics = *context_->metrics;
    metrics.records += batch.records.size();
    metrics.input_bytes += batch.records.size_bytes();
    schedule_metrics_.Note(batch, batch.read_ns, metrics);
    MoveWatermark(batch);
    // An empty batch of a source that had nothing to read, and whose watermark has not moved, is silence.
    batch.is_silence = batch.records.empty() && !batch.moves && !was_ready && !batch.ended;
    if (batch.is_silence) {
      batch.becomes_idle = idleness_.OnSilence(batch.read_ns);
    } else {
      idleness_.OnActivity(batch.read_ns);
    }
    return batch;
  }

  /// The source has something to read, before it is polled: it is not idle.
  void Wake(std::int64_t now_ns) { idleness_.OnActivity(now_ns); }
  bool idle() const { return idleness_.idle(); }
  /// Whether the source would become idle if it was polled now, and still had nothing.
  bool IdlenessIsDue(std::int64_t now_ns) const { return idleness_.Due(now_ns); }

  /// Adds its counters to the context's metrics; once.
  void Measure() const {
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

 private:
  /// The end of the stream is a control of its own, and no watermark. A source without event times has no watermarks,
  /// even if its batches have some.
  void MoveWatermark(PolledBatch<R>& batch) {
    const std::int64_t said_ms = batch.watermark_ms != kEndedMs ? batch.watermark_ms
                                 : batch.ended                  ? watermark_ms_
                                                                : kEndedMs - 1;
    batch.moves = has_event_times_ && said_ms > watermark_ms_;
    watermark_ms_ = batch.moves ? said_ms : watermark_ms_;
    batch.watermark_ms = watermark_ms_;
  }

  TaskContext* context_;
  std::unique_ptr<Source<R>> source_;
  Idleness idleness_;
  bool has_event_times_;
  ScheduleMetrics schedule_metrics_;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
};

}  // namespace glaive::engine

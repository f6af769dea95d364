// SourceFeeder: reads a source on an executor that processes none of its records (--ingest=channel). It streams them to
// another executor, the fed one, which processes them (channel_reader.h). This is how Slash measures ingestion (paper
// section 8.3.2).
//
//    source ──► SourceFeeder ──► message ──► ring of the fed executor ──► inbox ──► ChannelReader ──► pipeline
//
// Records are copied as they lie in memory, with their texts, into messages as those of an exchange
// (exchange/exchange_layout.h). A message leaves when it is full, after --epoch-interval, and when the source has
// nothing to read. The fed executor's inbox credits hold up a feeder whose records it takes in too slowly.
//
// The fed executor judges the records of a message by the watermark of the message before it. So the feeder ends a
// message where the watermark has moved and the next records may be earlier than it. Then the same records are late as
// where the feeder would process them.
//
// Owned by the executor's task, used by its thread alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"

#include "engine/base/event_time.h"
#include "engine/exchange/exchange_sender.h"
#include "engine/executor/shipper.h"
#include "engine/executor/task_context.h"
#include "engine/flow/control.h"
#include "engine/graph/message_target.h"
#include "engine/graph/output.h"
#include "engine/graph/polled_source.h"
#include "engine/graph/reading_order.h"
#include "engine/source/source.h"
#include "state/record/record.h"

namespace glaive::engine {

template <typename R>
class SourceFeeder final : public Producer<R>, public OrderedReader, public MessageTarget {
 public:
  /// All outlive it. `event_time_ms` is null where records have no event times. `part` is that of the source's vertex
  /// (OpenGraph::part), and `input` its number among the query's inputs.
  SourceFeeder(TaskContext& context, Shipper& shipper, ReadingOrder& order, std::unique_ptr<Source<R>> source,
               std::function<std::int64_t(const R&)> event_time_ms, std::size_t part, std::uint32_t input,
               ExecutorId fed)
      : context_(&context),
        shipper_(&shipper),
        order_(&order),
        part_(part),
        source_(context, std::move(source), event_time_ms != nullptr),
        event_time_ms_(std::move(event_time_ms)),
        fed_(fed),
        sender_(context, shipper, {.input = input, .record_bytes = sizeof(R), .has_texts = kHasText<R>}, fed) {
    order.Add(*this);
  }

  absl::Status Spawn(Scheduler& scheduler) override {
    return scheduler.Spawn("feed", FiberKind::kCompute, [this](Fiber& fiber) { Feed(fiber); });
  }

  void Measure() override {
    source_.Measure();
    context_->metrics->exchanged_records += sender_.sent_records();
    context_->metrics->exchanged_bytes += sender_.bytes_to_others();
    context_->metrics->exchange_waits += sender_.waits();
  }

  std::int64_t watermark_ms() const override { return ended_ ? kEndedMs : watermark_ms_; }
  bool CanRead() const override { return false; }  // no other source waits for it
  bool idle() const override { return source_.idle(); }
  bool has_event_times() const override { return event_time_ms_ != nullptr; }
  std::size_t part() const override { return part_; }

  bool Expects(ExecutorId sender) const override { return sender == fed_; }
  bool Receive(Fiber& fiber, ExecutorId sender, const rdma::Message& message) override {
    context_->Require(fiber, sender_.OnGrant(sender, message));
    return sender_.is_done(sender);
  }

 private:
  using Producer<R>::output;

  void Feed(Fiber& fiber) {
    context_->BeginSource();
    output().Emit(fiber, EndOfStream{});  // this executor's own pipeline gets no records
    while (!ended_) {
      const PolledBatch<R> batch = source_.Poll(fiber);
      Send(fiber, batch);
      ended_ = batch.ended;
      order_->ShowProgress(*context_);
      if (sender_.WantsTurn(batch.read_ns)) {
        sender_.Attend(batch.read_ns);
      }
      if (batch.records.empty() && !ended_) {
        sender_.Hurry();
        fiber.WaitUntil([&] {
          const std::int64_t now_ns = context_->clock->NowNanos();
          return source_.Ready() || source_.IdlenessIsDue(now_ns) || sender_.WantsTurn(now_ns);
        });
      } else {
        fiber.Yield();
      }
    }
    sender_.End(fiber);
    ExecutorMetrics& metrics = *context_->metrics;
    metrics.last_result_ns = std::max(metrics.last_result_ns, context_->clock->NowNanos());
    shipper_->EndInput();
  }

  void Send(Fiber& fiber, const PolledBatch<R>& batch) {
    if (batch.is_silence) {
      if (batch.becomes_idle) {
        sender_.OnIdle();
      }
      return;
    }
    if (sender_.idle()) {
      sender_.OnActive();
    }
    if (!batch.records.empty()) {
      SendRecords(fiber, batch);
    }
    if (batch.moves) {
      watermark_ms_ = batch.watermark_ms;
      sender_.OnWatermark({.time_ms = batch.watermark_ms, .read_ns = batch.since_ns});
    }
  }

  void SendRecords(Fiber& fiber, const PolledBatch<R>& batch) {
    const std::int64_t shift_ms = batch.event_time_shift_ms;
    const std::int64_t first_ms = TimeOf(batch.records.front()) + shift_ms;
    const bool may_be_late = !batch.in_order || first_ms < watermark_ms_;
    if (may_be_late && !sender_.has_told_watermark(fed_)) {
      sender_.Tell(fiber, fed_);
    }
    if (shift_ms != shift_ms_) {
      sender_.Cut(fiber, fed_);
    }
    const bool goes_on = batch.in_order && first_ms >= last_ms_;
    shift_ms_ = shift_ms;
    last_ms_ = TimeOf(batch.records.back()) + shift_ms;
    sender_.BeginBatch(batch.since_ns, shift_ms);
    sender_.AppendAll(fiber, fed_, batch.records, {.in_order = batch.in_order, .goes_on = goes_on});
  }

  std::int64_t TimeOf(const R& record) const { return event_time_ms_ != nullptr ? event_time_ms_(record) : 0; }

  TaskContext* context_;
  Shipper* shipper_;
  ReadingOrder* order_;
  std::size_t part_;
  PolledSource<R> source_;
  std::function<std::int64_t(const R&)> event_time_ms_;
  ExecutorId fed_;
  ExchangeSender sender_;
  bool ended_ = false;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  std::int64_t shift_ms_ = 0;               // of the last batch with records
  std::int64_t last_ms_ = kMinEventTimeMs;  // event time of the last record
};

}  // namespace glaive::engine

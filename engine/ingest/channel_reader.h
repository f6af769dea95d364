// ChannelReader: a source whose records another executor reads and streams to this one (source_feeder.h). To the
// operators behind it, it is the source's reader (graph/source_reader.h).
//
//   ingest    takes a message out of the inbox, and hands it over in pieces; waits for slower flows, for sources that
//             are behind, and for the next message
//
// The source is idle when its feeder says so. Silence of the channel alone does not make it idle, since records may be
// under way.
//
// Owned by the executor's task, used by its thread alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "absl/status/status.h"

#include "engine/base/take_first.h"
#include "engine/exchange/exchange_flow.h"
#include "engine/exchange/exchange_inbox.h"
#include "engine/exchange/exchange_texts.h"
#include "engine/executor/shipper.h"
#include "engine/executor/task_context.h"
#include "engine/flow/batch.h"
#include "engine/flow/control.h"
#include "engine/graph/message_target.h"
#include "engine/graph/ordered_producer.h"
#include "state/record/record.h"

namespace glaive::engine {

template <typename R>
class ChannelReader final : public OrderedProducer<R>, public MessageTarget {
 public:
  /// All outlive it. `input` is the source's number among the query's inputs, `part` as of OrderedProducer.
  ChannelReader(TaskContext& task, Shipper& shipper, ReadingOrder& order, bool has_event_times, std::size_t part,
                std::uint32_t input, ExecutorId feeder)
      : OrderedProducer<R>(task, order, has_event_times, part),
        shipper_(&shipper),
        feeder_(feeder),
        inbox_(task, shipper,
               {.input = input, .record_bytes = sizeof(R), .has_texts = kHasText<R>, .has_shift = true}) {}

  absl::Status Spawn(Scheduler& scheduler) override {
    return scheduler.Spawn("ingest", FiberKind::kCompute, [this](Fiber& fiber) { Read(fiber); });
  }

  bool idle() const override { return flow_.idle(); }

  bool Expects(ExecutorId sender) const override { return sender == feeder_; }
  bool Receive(Fiber& fiber, ExecutorId sender, const rdma::Message& message) override {
    context().Require(fiber, inbox_.Receive(sender, message));
    return inbox_.has_ended(sender);
  }

 private:
  using OrderedProducer<R>::context;
  using OrderedProducer<R>::output;

  /// Records of one turn, of about so many bytes as a source's batch.
  static constexpr std::size_t kMostInTurn = std::max<std::size_t>((std::size_t{64} << 10) / sizeof(R), 1);

  bool HasMore() const override { return inbox_.HasMessage(feeder_); }

  void Read(Fiber& fiber) {
    context().BeginSource();
    const auto turn = [this] { return Turn{.now_ns = context().clock->NowNanos()}; };
    while (!this->ended()) {
      fiber.WaitUntil([&] { return HasMore() || output().WantsTurn(turn()); });
      if (HasMore()) {
        this->WaitForTurn(fiber);
        HandOn(fiber);
      }
      if (!this->ended()) {
        output().Attend(fiber, turn());
      }
      this->ShowProgress();
    }
    shipper_->EndInput();
  }

  void HandOn(Fiber& fiber) {
    const ExchangeMessage message = inbox_.Front(feeder_);
    const std::span<R> records(reinterpret_cast<R*>(message.records.data()), message.records.size() / sizeof(R));
    context().Require(fiber, flow_.Check(context().self, feeder_, message.header));
    context().Require(fiber, UnpackTexts(context().self, feeder_, records, message.texts));
    flow_.HandOn(
        message.header, !records.empty(), context().clock->NowNanos(),
        [&] { EmitRecords(fiber, message.header, records); },
        [&](const Control& control) {
          if (std::holds_alternative<EndOfStream>(control)) {
            this->SetEnded();
          }
          output().Emit(fiber, control);
        });
    inbox_.Pop(fiber, feeder_);
  }

  void EmitRecords(Fiber& fiber, const ExchangeHeader& header, std::span<const R> records) {
    while (!records.empty()) {
      const std::span<const R> piece = TakeFirst(records, kMostInTurn);
      output().Emit(fiber, Batch<R>{.records = piece,
                                    .event_time_shift_ms = header.event_time_shift_ms,
                                    .in_order = header.in_order == 1,
                                    .upcoming = records.first(std::min(records.size(), kMostInTurn)),
                                    .read_ns = header.read_ns});
      if (!records.empty()) {
        output().Attend(fiber, {.now_ns = context().clock->NowNanos()});
        fiber.Yield();
      }
    }
  }

  Shipper* shipper_;
  ExecutorId feeder_;
  ExchangeInbox inbox_;
  ExchangeFlow flow_;
};

}  // namespace glaive::engine

// ExchangeOperator: one executor's end of an exchange. What moves: each record, with its event time and its texts, to
// the receivers that a route chooses (routes.h).
//
//    producer ──► chain ──► route ──► ExchangeSender ──► ring of B ──► inbox of B
//                                           └─► own inbox
//    inbox: queue of A ──► port A ─┐
//           own queue ───► port B ─┼─ union ──► output ──► consumers
//                                  fiber "exchange"
//
// The records of a sender arrive at each receiver in their order; those of two senders are in any order. To a receiver
// the stream is a union of what each executor sends it (graph/union.h): its watermark is the least of theirs. The ports
// also tell a sender how far the other senders have come: the source in front of it waits if it leads the slowest of
// them by more than --max-lead (invariant I7). What has been sent never waits for slower flows. A sender waits for
// inbox credit of a receiver whose consumers are slow, so memory is bounded (I6).
//
// Owned by the executor's task, used by its thread alone. ExchangeVertex is its part of the query's graph. A run of one
// executor has no exchange: records pass through.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/exchange/exchange_flow.h"
#include "engine/exchange/exchange_inbox.h"
#include "engine/exchange/exchange_layout.h"
#include "engine/exchange/exchange_sender.h"
#include "engine/exchange/exchange_texts.h"
#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/flat_map.h"
#include "engine/graph/message_target.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/union.h"
#include "engine/graph/vertex_plan.h"
#include "engine/steps/expansions.h"
#include "engine/steps/steps.h"
#include "rdma/base/prefetch.h"
#include "state/record/record.h"

namespace glaive::engine {

/// `Origin` is one of api/origin.h, `Router` what a route of routes.h opens. `Out`: what the chain makes.
template <typename Origin, Step Chain, typename Router, typename Out>
class ExchangeOperator final : public UnionOperator<TimedRecord<Out>>,
                               public Consumer<typename Chain::In>,
                               public MessageTarget {
 public:
  using In = typename Chain::In;
  using Timed = TimedRecord<Out>;
  static_assert(alignof(Timed) <= sizeof(ExchangeHeader));

  /// All outlive the operator. `number` is that of its input.
  ExchangeOperator(TaskContext& context, Shipper& shipper, const Origin& origin, const Chain& chain, Router router,
                   std::uint32_t number)
      : UnionOperator<Timed>(context, {.has_event_times = Origin::kHasTime,
                                       .waits_for_idle_ports = !Origin::kFromSource,
                                       .max_lead_ms = context.max_lead_ms,
                                       .delay_ms = 0,
                                       .patience_ns = context.idle_timeout_ns / 4}),
        context_(&context),
        shipper_(&shipper),
        origin_(&origin),
        chain_(&chain),
        router_(std::move(router)),
        inbox_(context, shipper, {.input = number, .record_bytes = sizeof(Timed), .has_texts = kHasText<Out>}),
        sender_(context, shipper, inbox_, {.input = number, .record_bytes = sizeof(Timed), .has_texts = kHasText<Out>}),
        flows_(context.executor_count),
        open_flows_(context.executor_count) {
    for (std::uint32_t sender = 0; sender < context.executor_count; ++sender) {
      this->AddPort();
    }
    sent_.goes_by_clock = origin.vertex->goes_by_clock();
  }

  absl::Status Spawn(Scheduler& scheduler) override {
    return scheduler.Spawn("exchange", FiberKind::kCompute, [this](Fiber& fiber) { Read(fiber); });
  }
  void Measure() override {
    context_->metrics->exchanged_records += sender_.sent_records();
    context_->metrics->exchanged_bytes += sender_.bytes_to_others();
    context_->metrics->exchange_waits += sender_.waits();
  }

  // ---- the sending end, in the producer's fiber -------------------------------------------------------------------

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    sender_.BeginBatch(batch.read_ns);
    for (const In& record : batch.records) {
      if constexpr (kReadsAhead) {
        Prefetch(&record + kRecordsAhead);  // it need not be one
      }
      if (chain_->Selects(record)) {
        const std::int64_t event_time_ms = origin_->event_time_ms(record) + batch.event_time_shift_ms;
        chain_->Push(record, [&](const Out& survivor) {
          router_(survivor, [&](ExecutorId receiver) { sender_.Append(fiber, receiver, event_time_ms, survivor); });
        });
      }
    }
  }
  void On(Fiber& fiber, const Control& control) override {
    std::visit([&](const auto& each) { OnControl(fiber, each); }, control);
  }
  void Flush(Fiber& /*fiber*/) override {
    sender_.Hurry();
    sender_.Attend(context_->clock->NowNanos());
  }
  bool WantsTurn(const Turn& turn) const override { return sender_.WantsTurn(turn.now_ns); }
  void Attend(Fiber& /*fiber*/, const Turn& turn) override { sender_.Attend(turn.now_ns); }
  /// Whether the producer is ahead of other executors' producers, of which the ports of this end tell, or of what the
  /// stream is compared with behind the exchange.
  bool LeadsTooFar(std::int64_t ahead_ms) const override { return UnionOperator<Timed>::LeadsTooFar(sent_, ahead_ms); }
  std::optional<std::int64_t> watermark_ms() const override {
    return this->ComparesStreams() ? std::optional(sent_.watermark_ms) : std::nullopt;
  }
  void SetOthers(OtherConsumers& others) override { sender_.SetOthers(others); }

  // ---- in the fiber that receives ---------------------------------------------------------------------------------

  bool Receive(Fiber& fiber, ExecutorId sender, const rdma::Message& message) override {
    const auto tag = message.tag.As<ExchangeTag>();
    context_->Require(fiber, IsGrant(tag.kind) ? sender_.OnGrant(sender, message) : inbox_.Receive(sender, message));
    return inbox_.has_ended(sender) && sender_.is_done(sender);
  }

 private:
  /// Whether to ask for records of a source before they are read: while others are received, the processor's own
  /// prefetchers lose the stream. Records of other producers are in the cache.
  static constexpr bool kReadsAhead = Origin::kFromSource && sizeof(In) <= 64;
  static constexpr std::size_t kRecordsAhead = 128;

  void OnControl(Fiber& /*fiber*/, const Watermark& watermark) {
    sent_.MoveTo(watermark.time_ms);
    sender_.OnWatermark(watermark);
  }
  void OnControl(Fiber& /*fiber*/, const Idle& /*idle*/) {
    sent_.idle = true;
    sender_.OnIdle();
    sender_.Attend(context_->clock->NowNanos());
  }
  void OnControl(Fiber& /*fiber*/, const Active& /*active*/) {
    sent_.idle = false;
    sender_.OnActive();
    sender_.Attend(context_->clock->NowNanos());
  }
  void OnControl(Fiber& fiber, const EndOfStream& /*end*/) {
    sent_.watermark_ms = kEndedMs;
    sender_.End(fiber);
    OnSentAll();
  }

  /// Of the records, or of the grants.
  void OnSentAll() {
    if (--open_ends_ == 0) {
      shipper_->EndInput();
    }
  }

  // ---- the receiving end, in the exchange's fiber -----------------------------------------------------------------

  void Read(Fiber& fiber) {
    Consumer<Timed>& any_port = this->port(0);
    const auto turn = [this] { return Turn{.now_ns = context_->clock->NowNanos()}; };
    while (open_flows_ > 0) {
      fiber.WaitUntil([&] { return inbox_.messages() > 0 || any_port.WantsTurn(turn()); });
      if (inbox_.messages() > 0) {
        HandOn(fiber, NextSender());
      }
      if (const Turn now = turn(); open_flows_ > 0 && any_port.WantsTurn(now)) {
        any_port.Attend(fiber, now);
      }
    }
    OnSentAll();
  }

  /// Each sender with messages in turn. There are messages.
  ExecutorId NextSender() {
    do {
      last_ = (last_ + 1) % context_->executor_count;
    } while (!inbox_.HasMessage(ExecutorId{last_}));
    return ExecutorId{last_};
  }

  void HandOn(Fiber& fiber, ExecutorId sender) {
    const ExchangeMessage message = inbox_.Front(sender);
    const ExchangeHeader& header = message.header;
    const std::span<Timed> records(reinterpret_cast<Timed*>(message.records.data()),
                                   message.records.size() / sizeof(Timed));
    ExchangeFlow& flow = flows_[Value(sender)];
    Consumer<Timed>& port = this->port(Value(sender));
    context_->Require(fiber, flow.Check(context_->self, sender, header));
    context_->Require(fiber, UnpackTexts(context_->self, sender, records, message.texts));
    flow.HandOn(
        header, !records.empty(), context_->clock->NowNanos(),
        [&] {
          port.Take(fiber,
                    Batch<Timed>{.records = records, .in_order = header.in_order == 1, .read_ns = header.read_ns});
        },
        [&](const Control& control) {
          open_flows_ -= std::holds_alternative<EndOfStream>(control) ? 1 : 0;
          port.On(fiber, control);
        });
    inbox_.Pop(fiber, sender);
  }

  TaskContext* context_;
  Shipper* shipper_;
  const Origin* origin_;
  const Chain* chain_;
  Router router_;
  ExchangeInbox inbox_;
  ExchangeSender sender_;
  typename UnionOperator<Timed>::Position sent_;  // how far the own producer has come
  std::vector<ExchangeFlow> flows_;               // by sender
  std::uint32_t open_flows_;
  std::uint32_t open_ends_ = 2;  // of the exchange, which have messages to send
  std::uint32_t last_ = 0;       // the sender that was served last
};

template <typename Origin, Step Chain, typename Route>
class ExchangeVertex final : public TimedVertex<Origin, typename Chain::Out> {
 public:
  using Out = typename Chain::Out;

  ExchangeVertex(Origin from, Chain chain, Route route)
      : TimedVertex<Origin, Out>(std::move(from)), chain_(std::move(chain)), route_(std::move(route)) {}

  std::vector<InputShape> inputs(const Roles& /*roles*/) const override {
    return {
        {.entry_bytes = sizeof(TimedRecord<Out>), .header_bytes = sizeof(ExchangeHeader), .has_texts = kHasText<Out>}};
  }
  bool adds_past_results() const override { return !Origin::kFromSource || origin().vertex->adds_past_results(); }
  bool is_behind_exchange() const override { return true; }
  VertexPlan Explain(const Roles& roles) const override {
    const std::string moves = roles.executor_count() == 1
                                  ? "records stay on the one executor"
                                  : absl::StrCat("each record moves ", route_.Describe(), ", with its event time",
                                                 kHasText<Out> ? ", and its texts" : "");
    return {.kind = "exchange", .facts = {ChainFact<Chain>(), moves}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    TaskContext& context = graph.context();
    if (context.executor_count == 1) {
      return this->Consuming(
          graph, std::make_unique<FlatMapOperator<Origin, Chain, Itself, Out>>(context, origin(), chain_, Itself{}));
    }
    auto router = route_.template Open<Out>(context);
    auto opened = std::make_unique<ExchangeOperator<Origin, Chain, decltype(router), Out>>(
        context, graph.shipper(), origin(), chain_, std::move(router), graph.next_input());
    graph.AddInput(*opened);
    return this->Consuming(graph, std::move(opened));
  }

 private:
  using TimedVertex<Origin, Out>::origin;

  Chain chain_;
  Route route_;
};

}  // namespace glaive::engine

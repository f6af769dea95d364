#include "engine/executor/shipper.h"

#include <algorithm>
#include <cstddef>

#include "rdma/channel/slot_footer.h"

namespace glaive::engine {
namespace {

/// A turn ends after about so much was copied or posted, so that the other fibers get theirs.
constexpr std::size_t kBytesPerTurn = std::size_t{128} << 10;

}  // namespace

Shipper::Shipper(TaskContext& context, std::uint32_t input_count)
    : context_(&context), outbox_(context.executor_count, context.mesh->segments()), open_inputs_(input_count) {}

absl::Status Shipper::Spawn(Scheduler& scheduler) {
  if (context_->peer_count() == 0) {
    return absl::OkStatus();
  }
  return scheduler.Spawn("ship", FiberKind::kRdma, [this](Fiber& fiber) { Ship(fiber); });
}

void Shipper::Ship(Fiber& fiber) {
  const auto is_done = [this] { return open_inputs_ == 0 && outbox_.pending() == 0; };
  while (true) {
    fiber.WaitUntil([&] { return CanSend() || is_done(); });
    if (is_done()) {
      break;
    }
    SendSome();
    fiber.Yield();
  }
  // The segments are the transport's until it is done with them.
  fiber.WaitUntil([this] { return context_->mesh->in_flight() == 0; });
}

bool Shipper::CanSend() const {
  return std::ranges::any_of(outbox_.receivers(), [this](ExecutorId receiver) {
    return outbox_.HasPending(receiver) && context_->mesh->sender(receiver).HasCredit();
  });
}

// A message to each receiver in turn, as long as one of them takes one and the turn lasts.
void Shipper::SendSome() {
  std::size_t sent_bytes = 0;
  for (bool has_sent = true; has_sent && sent_bytes < kBytesPerTurn;) {
    has_sent = false;
    for (const ExecutorId receiver : outbox_.receivers()) {
      if (sent_bytes >= kBytesPerTurn) {
        break;
      }
      rdma::ChannelSender& channel = context_->mesh->sender(receiver);
      const std::uint64_t before = channel.counters().payload_bytes;
      if (outbox_.TrySend(receiver, channel)) {
        has_sent = true;
        sent_bytes += channel.counters().payload_bytes - before + rdma::kFooterBytes;
      }
    }
  }
  outbox_.DropServed();
}

void Shipper::Measure() const {
  ExecutorMetrics& metrics = *context_->metrics;
  metrics.messages = metrics.max_ring_laps = 0;
  metrics.credit_stalls = metrics.queue_stalls = metrics.credit_writes = metrics.placement_waits = 0;
  metrics.handed_on = context_->mesh->handed_on();
  std::uint64_t payload_bytes = 0;
  for (std::uint32_t turn = 0; turn < context_->peer_count(); ++turn) {
    const rdma::ChannelSender& channel = context_->mesh->sender(context_->Peer(turn));
    metrics.messages += channel.counters().messages;
    payload_bytes += channel.counters().payload_bytes;
    metrics.credit_stalls += channel.counters().credit_stalls;
    metrics.queue_stalls += channel.counters().queue_stalls;
    metrics.max_ring_laps = std::max<std::uint64_t>(metrics.max_ring_laps, channel.sent() / channel.options().credits);
    const rdma::ReceiverCounters& received = context_->mesh->receiver(context_->Peer(turn)).counters();
    metrics.credit_writes += received.credit_writes;
    metrics.placement_waits += received.placement_waits;
  }
  // Of a run that has failed, exchanges may have queued more than was sent.
  metrics.delta_bytes = payload_bytes - std::min(payload_bytes, metrics.exchanged_bytes);
}

}  // namespace glaive::engine

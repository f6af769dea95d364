#include "engine/executor/delta_shipper.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace glaive::engine {
namespace {

/// A turn ends after about so much was copied or posted, so that the other fibers get theirs.
constexpr std::size_t kBytesPerTurn = std::size_t{128} << 10;

}  // namespace

DeltaShipper::DeltaShipper(TaskContext& context, std::uint32_t input_count)
    : context_(&context),
      outbox_(context.executor_count, context.mesh->segments(), context.delta_observer),
      open_inputs_(input_count) {}

absl::Status DeltaShipper::Spawn(Scheduler& scheduler) {
  for (std::uint32_t turn = 0; turn < context_->peer_count(); ++turn) {
    const ExecutorId leader = context_->Peer(turn);
    absl::Status status = scheduler.Spawn(absl::StrCat("ship to ", Value(leader)), FiberKind::kRdma,
                                          [this, leader](Fiber& fiber) { Ship(fiber, leader); });
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

void DeltaShipper::Ship(Fiber& fiber, ExecutorId leader) {
  rdma::ChannelSender& channel = context_->mesh->sender(leader);
  const std::size_t messages_per_turn = std::max<std::size_t>(1, kBytesPerTurn / channel.options().slot_bytes);
  while (true) {
    fiber.WaitUntil([&] { return outbox_.HasPending(leader) || open_inputs_ == 0; });
    if (!outbox_.HasPending(leader)) {
      break;
    }
    std::size_t sent = 0;
    while (sent < messages_per_turn && outbox_.TrySend(leader, channel)) {
      ++sent;
    }
    if (sent < messages_per_turn && outbox_.HasPending(leader)) {
      fiber.WaitUntil([&] { return channel.HasCredit(); });
    }
    if (sent > 0) {
      fiber.Yield();
    }
  }
  // The segments are the transport's until it is done with them.
  fiber.WaitUntil([&] { return channel.in_flight() == 0; });
}

void DeltaShipper::Measure() const {
  ExecutorMetrics& metrics = *context_->metrics;
  metrics.messages = metrics.delta_bytes = metrics.credit_stalls = metrics.max_ring_laps = 0;
  for (std::uint32_t turn = 0; turn < context_->peer_count(); ++turn) {
    const rdma::ChannelSender& channel = context_->mesh->sender(context_->Peer(turn));
    metrics.messages += channel.counters().messages;
    metrics.delta_bytes += channel.counters().payload_bytes;
    metrics.credit_stalls += channel.counters().credit_stalls;
    metrics.max_ring_laps = std::max<std::uint64_t>(metrics.max_ring_laps, channel.sent() / channel.options().credits);
  }
}

}  // namespace glaive::engine

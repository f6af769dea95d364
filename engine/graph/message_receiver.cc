#include "engine/graph/message_receiver.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "rdma/mesh/executor_mesh.h"

namespace glaive::engine {
namespace {

/// A turn ends after about so much was received, so that the other fibers get theirs. The target of a message ends
/// turns within it.
constexpr std::size_t kBytesPerTurn = std::size_t{64} << 10;

}  // namespace

MessageReceiver::MessageReceiver(TaskContext& context, std::span<MessageTarget* const> inputs)
    : context_(&context), inputs_(inputs.begin(), inputs.end()), open_inputs_(context.executor_count) {
  for (std::uint32_t turn = 0; turn < context.peer_count(); ++turn) {
    const ExecutorId peer = context.Peer(turn);
    std::size_t& open = open_inputs_[Value(peer)];
    open =
        static_cast<std::size_t>(std::ranges::count_if(inputs, [&](const auto* each) { return each->Expects(peer); }));
    open_peers_ += open > 0 ? 1 : 0;
  }
}

absl::Status MessageReceiver::Spawn(Scheduler& scheduler) {
  if (open_peers_ == 0) {
    return absl::OkStatus();
  }
  return scheduler.Spawn("receive", FiberKind::kRdma, [this](Fiber& fiber) { Receive(fiber); });
}

void MessageReceiver::Receive(Fiber& fiber) {
  rdma::ExecutorMesh& mesh = *context_->mesh;
  while (open_peers_ > 0) {
    fiber.WaitUntil([&] { return mesh.arrivals() > 0 || (mesh.FlushCredits(), false); });
    std::size_t received_bytes = 0;
    for (std::size_t left = mesh.arrivals(); left > 0 && received_bytes < kBytesPerTurn; --left) {
      received_bytes += ReceiveMessage(fiber, mesh.NextArrival());
    }
    fiber.Yield();
  }
  fiber.WaitUntil([&] { return mesh.FlushCredits(); });
}

// Returns the bytes that were read.
std::size_t MessageReceiver::ReceiveMessage(Fiber& fiber, rdma::ChannelReceiver& channel) {
  const absl::StatusOr<std::optional<rdma::Message>> message = channel.TryReceive();
  context_->Require(fiber, message.status());
  if (!message->has_value()) {
    return channel.options().slot_bytes;  // its checksum was wrong, so all of it was read
  }
  const ExecutorId sender = channel.peer();
  const std::uint32_t input = InputOf((*message)->tag);
  if (input >= inputs_.size()) {
    context_->Fail(fiber, absl::DataLossError(absl::StrCat("executor ", Value(context_->self),
                                                           " refuses a message of executor ", Value(sender),
                                                           " for input ", input, ": the query has ", inputs_.size())));
  }
  if (!inputs_[input]->Expects(sender)) {
    context_->Fail(fiber, absl::DataLossError(absl::StrCat(
                              "executor ", Value(context_->self), " refuses a message of executor ", Value(sender),
                              " for input ", input, ", which gets no messages of that executor")));
  }
  const bool was_last = inputs_[input]->Receive(fiber, sender, **message);
  const std::size_t bytes = (*message)->payload.size();
  channel.Release();
  if (was_last && --open_inputs_[Value(sender)] == 0) {
    --open_peers_;
  }
  return bytes;
}

}  // namespace glaive::engine

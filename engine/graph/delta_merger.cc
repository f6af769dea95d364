#include "engine/graph/delta_merger.h"

#include <algorithm>
#include <optional>

#include "rdma/mesh/executor_mesh.h"
#include "state/epoch/delta_layout.h"

namespace glaive::engine {
namespace {

/// A turn ends after about so much was merged, so that the other fibers get theirs. The target of a message ends turns
/// within it.
constexpr std::size_t kBytesPerTurn = std::size_t{64} << 10;

}  // namespace

DeltaMerger::DeltaMerger(TaskContext& context, std::span<DeltaTarget* const> inputs)
    : context_(&context), inputs_(inputs.begin(), inputs.end()), peers_(context.executor_count) {
  if (inputs_.empty()) {
    return;  // peers send nothing
  }
  for (std::uint32_t turn = 0; turn < context.peer_count(); ++turn) {
    const ExecutorId executor = context.Peer(turn);
    Peer& peer = peers_[Value(executor)];
    for (std::uint32_t number = 0; number < inputs_.size(); ++number) {
      peer.readers.emplace_back(executor, context.self, inputs_[number]->delta_entry_bytes(), number);
    }
    peer.open_inputs = inputs_.size();
    ++open_peers_;
  }
}

absl::Status DeltaMerger::Spawn(Scheduler& scheduler) {
  if (open_peers_ == 0) {
    return absl::OkStatus();
  }
  return scheduler.Spawn("merge", FiberKind::kRdma, [this](Fiber& fiber) { Merge(fiber); });
}

void DeltaMerger::Merge(Fiber& fiber) {
  rdma::ExecutorMesh& mesh = *context_->mesh;
  while (open_peers_ > 0) {
    fiber.WaitUntil([&] { return mesh.arrivals() > 0 || (mesh.FlushCredits(), false); });
    std::size_t merged_bytes = 0;
    for (std::size_t left = mesh.arrivals(); left > 0 && merged_bytes < kBytesPerTurn; --left) {
      merged_bytes += MergeMessage(fiber, mesh.NextArrival());
    }
    fiber.Yield();
  }
  fiber.WaitUntil([&] { return mesh.FlushCredits(); });
}

// Returns the bytes that were read.
std::size_t DeltaMerger::MergeMessage(Fiber& fiber, rdma::ChannelReceiver& channel) {
  const absl::StatusOr<std::optional<rdma::Message>> message = channel.TryReceive();
  context_->Require(fiber, message.status());
  if (!message->has_value()) {
    return channel.options().slot_bytes;  // its checksum was wrong, so all of it was read
  }
  Peer& peer = peers_[Value(channel.peer())];
  const std::uint32_t number = (*message)->tag.As<state::DeltaTag>().input;
  const std::size_t input = std::min<std::size_t>(number, inputs_.size() - 1);  // the reader refuses another's
  state::DeltaReader& reader = peer.readers[input];
  const std::int64_t sent_watermark_ms = reader.watermark_ms();
  const absl::StatusOr<state::DeltaChunk> chunk = reader.Read(**message);
  context_->Require(fiber, chunk.status());
  inputs_[input]->Merge(fiber, reader, sent_watermark_ms, *chunk);
  const std::size_t bytes = (*message)->payload.size();
  channel.Release();
  const bool has_ended = sent_watermark_ms != kMaxEventTimeMs && reader.watermark_ms() == kMaxEventTimeMs;
  if (has_ended && --peer.open_inputs == 0) {
    --open_peers_;
  }
  return bytes;
}

}  // namespace glaive::engine

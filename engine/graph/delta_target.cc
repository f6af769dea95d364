#include "engine/graph/delta_target.h"

#include "absl/status/statusor.h"

#include "engine/base/event_time.h"

namespace glaive::engine {

DeltaTarget::DeltaTarget(TaskContext& context, std::uint32_t senders, std::uint32_t number,
                         const state::DeltaEntryBytes& entry_bytes)
    : task_(&context) {
  for (std::uint32_t sender = 0; sender < senders; ++sender) {
    readers_.emplace_back(ExecutorId{sender}, context.self, entry_bytes, number);
  }
}

bool DeltaTarget::Receive(Fiber& fiber, ExecutorId sender, const rdma::Message& message) {
  state::DeltaReader& reader = readers_[Value(sender)];
  const std::int64_t sent_watermark_ms = reader.watermark_ms();
  const absl::StatusOr<state::DeltaChunk> chunk = reader.Read(message);
  task_->Require(fiber, chunk.status());
  Merge(fiber, reader, sent_watermark_ms, *chunk);
  return sent_watermark_ms != kEndedMs && reader.watermark_ms() == kEndedMs;
}

}  // namespace glaive::engine

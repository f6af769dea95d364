// DeltaTarget: the input of a stage as a target of messages. The receiving fiber hands it the deltas of other
// executors.
//
// It has a DeltaReader for each of them, which checks a delta before any of it is used. Used by its executor's thread
// alone.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/graph/message_target.h"
#include "state/epoch/delta_layout.h"
#include "state/epoch/delta_reader.h"

namespace glaive::engine {

class DeltaTarget : public MessageTarget {
 public:
  bool Receive(Fiber& fiber, ExecutorId sender, const rdma::Message& message) final;

 protected:
  /// The query's input `number`, whose deltas come from the first `senders` executors and have entries of those sizes.
  /// `context` outlives it.
  DeltaTarget(TaskContext& context, std::uint32_t senders, std::uint32_t number,
              const state::DeltaEntryBytes& entry_bytes);

  /// Merges a chunk that `reader` has checked, then applies its marker. `sent_watermark_ms` is the sender's watermark
  /// before it. Yields in between, and waits for nothing (invariant I5).
  virtual void Merge(Fiber& fiber, state::DeltaReader& reader, std::int64_t sent_watermark_ms,
                     const state::DeltaChunk& chunk) = 0;

 private:
  TaskContext* task_;
  std::vector<state::DeltaReader> readers_;  // by executor; the own one's is not used
};

static_assert(offsetof(state::DeltaTag, input) == kInputInTag);

}  // namespace glaive::engine

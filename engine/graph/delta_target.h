// DeltaTarget: the input of a stage as the leader's merge fiber sees it: where the deltas of other executors go.
#pragma once

#include <cstdint>

#include "engine/fiber/fiber.h"
#include "state/epoch/delta_reader.h"

namespace glaive::engine {

class DeltaTarget {
 public:
  virtual ~DeltaTarget() = default;

  /// Of the deltas it takes.
  virtual state::DeltaEntryBytes delta_entry_bytes() const = 0;
  /// Merges a chunk that `reader` has checked, then applies its marker. `sent_watermark_ms` is the sender's watermark
  /// before it. Yields in between, and waits for nothing (invariant I5).
  virtual void Merge(Fiber& fiber, state::DeltaReader& reader, std::int64_t sent_watermark_ms,
                     const state::DeltaChunk& chunk) = 0;
};

}  // namespace glaive::engine

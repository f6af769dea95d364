// DeltaObserver: called when a sender queues a chunk of a delta, and when a leader has merged one; for tests of
// invariants I2 and I3.
//
// Injected into an executor, called on its thread. It must not call the executor, nor refer to a chunk's runs and texts
// later on.
#pragma once

#include "rdma/base/ids.h"
#include "state/epoch/delta_reader.h"

namespace glaive::state {

class DeltaObserver {
 public:
  virtual ~DeltaObserver() = default;

  /// A chunk is the last in the outbox's queue for `leader` now.
  virtual void OnQueued(ExecutorId leader, const DeltaChunk& chunk) = 0;
  /// The runs of a chunk of `sender` have been merged; its marker, if it has one, is applied next.
  virtual void OnMerged(ExecutorId sender, const DeltaChunk& chunk) = 0;
};

}  // namespace glaive::state

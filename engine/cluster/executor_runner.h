// ExecutorRunner: gives a node's executors the processor, from their opening to their end.
//
// Used by the node's main thread, which meanwhile watches for what could end the run (a lost peer, Ctrl-C).
// ExecutorThreads is what every program has; a simulated node's executors take turns in one thread (tests/sim).
//
// `watch` is asked about every 20 ms while a phase waits. Its error ends the run.
//
//   1. When a phase returns an error, or the runner is gone, no executor runs any more.
//   2. Executors start only in Run: every executor of the run must have been opened before.
#pragma once

#include "absl/status/status.h"

#include "rdma/base/watch.h"

namespace glaive::engine {

class ExecutorRunner {
 public:
  virtual ~ExecutorRunner() = default;

  /// Opens the query's tasks; returns when all are open.
  virtual absl::Status Open(const Watch& watch) = 0;
  /// Lets the executors run; returns when all have ended.
  virtual absl::Status Run(const Watch& watch) = 0;
};

}  // namespace glaive::engine

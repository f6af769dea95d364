// ExecutorRunner: gives a node's executors the processor, from their preparation to their end.
//
// Used by the node's main thread, which meanwhile watches for what could end the run (a lost peer, Ctrl-C).
// ExecutorThreads is what every program has; a simulated node's executors take turns in one thread (tests/sim).
//
// `watch` is asked about every 20 ms while a phase waits. Its error ends the run.
//
//   1. When a phase returns an error, or the runner is gone, no executor runs any more.
//   2. Executors start only in Run: every executor of the run must have been opened before.
//   3. All phases of an executor run on one thread: memory that it touches first lies on the socket of its processor.
#pragma once

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "rdma/base/watch.h"

namespace glaive::engine {

class ExecutorRunner {
 public:
  /// A part of the set-up, of the executor with that index on its node. It asks `watch` if it takes long.
  using Step = absl::FunctionRef<absl::Status(std::size_t index, const Watch& watch)>;

  virtual ~ExecutorRunner() = default;

  /// Takes every executor through `step`; returns when all have ended it. The executors themselves need not exist yet.
  virtual absl::Status OnEach(Step step, const Watch& watch) = 0;
  /// Opens the query's tasks; returns when all are open.
  virtual absl::Status Open(const Watch& watch) = 0;
  /// Lets the executors run; returns when all have ended. Until then those that have ended poll their channels.
  virtual absl::Status Run(const Watch& watch) = 0;
};

}  // namespace glaive::engine

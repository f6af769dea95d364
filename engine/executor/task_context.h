// TaskContext: what an executor gives the query task it runs.
//
// Owned by the Executor, used by its thread alone.
//
//   if (!status.ok()) context.FailAndPark(fiber, status);   // does not return
#pragma once

#include <cstdint>

#include "absl/status/status.h"

#include "engine/fiber/fiber.h"
#include "engine/metrics/live_progress.h"
#include "engine/metrics/node_metrics.h"
#include "engine/progress/epoch_policy.h"
#include "rdma/base/clock.h"
#include "rdma/base/ids.h"
#include "rdma/mesh/executor_mesh.h"
#include "state/log/state_memory.h"
#include "state/store/fragment_geometry.h"

namespace glaive::engine {

struct TaskContext {
  ExecutorId self{};
  std::uint32_t executor_count = 1;
  const Clock* clock = nullptr;
  EpochPolicy epoch_policy;
  std::int64_t max_lead_ms = 0;
  std::int64_t idle_timeout_ns = 0;
  state::FragmentGeometry geometry;
  rdma::ExecutorMesh* mesh = nullptr;
  state::StateMemory* memory = nullptr;
  ExecutorMetrics* metrics = nullptr;
  LiveProgress* live = nullptr;
  absl::Status failure;  // the first one; ends the executor after the round

  /// Records what ends the run, and never returns: the executor unwinds its fibers.
  [[noreturn]] void FailAndPark(Fiber& fiber, const absl::Status& status) {
    failure.Update(status);
    while (true) {
      fiber.WaitUntil([] { return false; });
    }
  }

  /// The other executors, in the order this one serves them: from the next one on and round, so that not all of them
  /// turn to executor 0 first (paper section 7.2.2; every executor starts elsewhere).
  ExecutorId Peer(std::uint32_t turn) const { return ExecutorId{(Value(self) + 1 + turn) % executor_count}; }
  std::uint32_t peer_count() const { return executor_count - 1; }
};

}  // namespace glaive::engine

// TaskContext: the parts of an executor that its query task uses.
//
// Owned by the Executor, used by its thread alone.
//
//   if (!status.ok()) context.Fail(fiber, status);   // does not return
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/executor/roles.h"
#include "engine/fiber/fiber.h"
#include "engine/metrics/live_progress.h"
#include "engine/metrics/node_metrics.h"
#include "engine/progress/epoch_policy.h"
#include "rdma/base/clock.h"
#include "rdma/base/ids.h"
#include "rdma/base/watch.h"
#include "rdma/mesh/executor_mesh.h"
#include "state/epoch/delta_observer.h"
#include "state/log/state_memory.h"
#include "state/store/fold_policy.h"
#include "state/store/fragment_geometry.h"

namespace glaive::engine {

class FileClaims;

struct TaskContext {
  ExecutorId self{};
  std::uint32_t executor_count = 1;
  Roles roles = Roles(1);     // of all executors
  bool process_reads = true;  // whether one of this process's executors reads the sources
  const Clock* clock = nullptr;
  EpochPolicy epoch_policy;
  std::int64_t max_lead_ms = 0;
  std::int64_t idle_timeout_ns = 0;
  std::vector<state::FragmentGeometry> geometries;  // of the query's inputs, by number
  std::uint32_t exchange_credits = 0;               // messages of an exchange under way to an executor, at most
  state::FoldOptions fold;
  std::size_t rows_per_turn = 0;
  rdma::ExecutorMesh* mesh = nullptr;
  state::StateMemory* memory = nullptr;
  ExecutorMetrics* metrics = nullptr;
  LiveProgress* live = nullptr;
  FileClaims* claims = nullptr;                    // may be null
  state::DeltaObserver* delta_observer = nullptr;  // may be null
  Watch watch = GoOn;                              // may end the opening
  absl::Status failure;                            // the first one; ends the executor after the round

  /// Ends the run with an error that says who met it and when. It never returns: the executor unwinds its fibers.
  [[noreturn]] void Fail(Fiber& fiber, const absl::Status& status) {
    failure.Update(absl::Status(
        status.code(), absl::StrCat("executor ", Value(self), ", epoch ",
                                    live->epochs.load(std::memory_order_relaxed) + 1, ": ", status.message())));
    while (true) {
      fiber.WaitUntil([] { return false; });
    }
  }
  /// Fails unless the status is OK.
  void Require(Fiber& fiber, const absl::Status& status) {
    if (!status.ok()) [[unlikely]] {
      Fail(fiber, status);
    }
  }

  /// The run's clock has started, and a source of this executor begins. Its time counts from the first one on.
  void BeginSource() const {
    metrics->first_batch_ns = metrics->first_batch_ns == 0 ? clock->NowNanos() : metrics->first_batch_ns;
  }

  /// The other executors, in the order this one serves them: from the next one on and round, so that not all of them
  /// turn to executor 0 first (paper section 7.2.2; every executor starts elsewhere).
  ExecutorId Peer(std::uint32_t turn) const { return ExecutorId{(Value(self) + 1 + turn) % executor_count}; }
  std::uint32_t peer_count() const { return executor_count - 1; }
};

}  // namespace glaive::engine

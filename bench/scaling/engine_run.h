// RunEngine: runs a workload on the engine: nodes of some executors each, all in this process, nodes joined by shared
// memory, executors of a node by local memory.
//
// Executors keep to processors of their own if there are enough (processors.h), else to none.
//
//   absl::StatusOr<Measurement> run = RunEngine(workload, {.nodes = 2, .executors = 1}, /*prefault_bytes=*/0);
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "bench/scaling/measurement.h"
#include "bench/scaling/workload.h"
#include "engine/executor/roles.h"

namespace glaive::bench {

struct Deployment {
  std::uint32_t nodes = 1;
  std::uint32_t executors = 1;     // of each
  std::uint32_t partitioners = 0;  // of each node's executors, in UpPar; 0: Slash

  std::uint32_t executor_count() const { return nodes * executors; }
  engine::Roles roles() const { return engine::Roles::Of(nodes, executors, partitioners); }
  /// "1 x 2"
  std::string Name() const { return absl::StrCat(nodes, " x ", executors); }
};

/// Each executor takes `prefault_bytes` of state from the system before the clock starts.
absl::StatusOr<Measurement> RunEngine(const Workload& workload, const Deployment& deployment,
                                      std::uint64_t prefault_bytes);

/// How much state an executor takes, by a run that is not measured; 0 unless it is `wanted`. A loop has touched its
/// memory before the clock starts, too.
absl::StatusOr<std::uint64_t> StateToPrefault(const Workload& workload, const Deployment& deployment, bool wanted);

}  // namespace glaive::bench

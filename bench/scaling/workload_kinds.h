// WorkloadKinds: the workloads that there are, by name, each with the size of its input.
//
//   for (const WorkloadKind& kind : WorkloadKinds()) {
//     absl::StatusOr<Workload> workload = MakeWorkload(kind, kind.input);
//   }
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "bench/scaling/input_size.h"
#include "bench/scaling/workload.h"

namespace glaive::bench {

struct WorkloadKind {
  std::string name;
  WantedFigures wanted;
  InputSize input;  // unless flags say otherwise
  absl::StatusOr<Workload> (*make)(const InputSize& size) = nullptr;
  bool is_exchange = false;  // the loop's threads wait for each other
  bool has_uppar = false;    // --uppar measures it
};

std::vector<WorkloadKind> WorkloadKinds();

/// Generates the input. Errors are those of aggregations.h.
absl::StatusOr<Workload> MakeWorkload(const WorkloadKind& kind, const InputSize& size);

}  // namespace glaive::bench

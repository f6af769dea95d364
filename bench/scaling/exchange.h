// The exchange among the workloads: task events of 64 bytes move to the executor, or the thread, that has their job.
// The hand-written loop needs two threads, which wait for each other. See aggregations.h for the errors.
#pragma once

#include "absl/status/statusor.h"

#include "bench/scaling/input_size.h"
#include "bench/scaling/workload.h"

namespace glaive::bench {

absl::StatusOr<Workload> MakeExchange(const InputSize& size);

}  // namespace glaive::bench

// RunLoops: runs a workload's hand-written loop in some threads, which share nothing: each reads what the executor of
// its number reads, and has tables of its own. They keep to the processors that executors would (processors.h), and
// begin together.
//
//   absl::StatusOr<Measurement> run = RunLoops(workload, /*threads=*/2);
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

#include "bench/scaling/measurement.h"
#include "bench/scaling/workload.h"

namespace glaive::bench {

/// The totals are the sums of all threads': keys that several of them have are counted as often.
absl::StatusOr<Measurement> RunLoops(const Workload& workload, std::uint32_t threads);

}  // namespace glaive::bench

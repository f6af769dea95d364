// The joins of two inputs among the workloads: of 5 records of an executor 4 are the left side's. See aggregations.h
// for the errors.
#pragma once

#include "absl/status/statusor.h"

#include "bench/scaling/input_size.h"
#include "bench/scaling/workload.h"

namespace glaive::bench {

absl::StatusOr<Workload> MakeNb8(const InputSize& size);
absl::StatusOr<Workload> MakeNb11(const InputSize& size);
/// Bids and the registrations of their bidders that are 10 s apart at most.
absl::StatusOr<Workload> MakeIntervalJoin(const InputSize& size);

}  // namespace glaive::bench

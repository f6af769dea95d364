// The windowed aggregations among the workloads, each with its query and its hand-written loop.
//
// All return InvalidArgument for sizes that make no sense, ResourceExhausted for input that does not fit the memory.
#pragma once

#include "absl/status/statusor.h"

#include "bench/scaling/input_size.h"
#include "bench/scaling/workload.h"

namespace glaive::bench {

absl::StatusOr<Workload> MakeYsb(const InputSize& size);
absl::StatusOr<Workload> MakeYsbYahoo(const InputSize& size);
absl::StatusOr<Workload> MakeYsbStar(const InputSize& size);
absl::StatusOr<Workload> MakeNb7(const InputSize& size);
absl::StatusOr<Workload> MakeCm(const InputSize& size);
absl::StatusOr<Workload> MakeCm1(const InputSize& size);
absl::StatusOr<Workload> MakeSwa(const InputSize& size);
absl::StatusOr<Workload> MakeSwaSession(const InputSize& size);
absl::StatusOr<Workload> MakeRo(const InputSize& size);
/// How many bids each window of ten bids of an auction has, by five.
absl::StatusOr<Workload> MakeCountWindows(const InputSize& size);

}  // namespace glaive::bench

// CompareSkew: two executors of a node on keys that are skewed more and more, Zipf(0.2) to Zipf(2.0), in turns, as in
// the Slash paper's Fig. 10d.
//
//   absl::Status status = CompareSkew(kind, settings, report);
#pragma once

#include "absl/status/status.h"

#include "bench/scaling/report.h"
#include "bench/scaling/settings.h"
#include "bench/scaling/workload_kinds.h"

namespace glaive::bench {

/// DataLoss if the results of two runs on the same keys differ.
absl::Status CompareSkew(const WorkloadKind& kind, const Settings& settings, Report& report);

}  // namespace glaive::bench

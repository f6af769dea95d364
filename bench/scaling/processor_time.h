// CompareProcessorTime: the processor time that a record takes with more executors in a node than there are processors,
// beside that with two, in turns.
//
//   absl::Status status = CompareProcessorTime(kind, settings, report);
#pragma once

#include "absl/status/status.h"

#include "bench/scaling/report.h"
#include "bench/scaling/settings.h"
#include "bench/scaling/workload_kinds.h"

namespace glaive::bench {

/// DataLoss if the results of two runs on as many executors differ.
absl::Status CompareProcessorTime(const WorkloadKind& kind, const Settings& settings, Report& report);

}  // namespace glaive::bench

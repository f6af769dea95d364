// CompareWithLoop: the engine and the hand-written loop on the same bytes, in turns: one executor and one thread, and,
// if wanted, two executors (in one node, and in two) and two threads. Prints what a second executor adds beside what a
// second thread adds to the loop, whose threads share nothing. Two executors also run the query whose records move, if
// the workload has one, beside the one whose partial results are merged.
//
//   absl::Status status = CompareWithLoop(kind, settings, report);
#pragma once

#include "absl/status/status.h"

#include "bench/scaling/report.h"
#include "bench/scaling/settings.h"
#include "bench/scaling/workload_kinds.h"

namespace glaive::bench {

/// DataLoss if results differ.
absl::Status CompareWithLoop(const WorkloadKind& kind, const Settings& settings, Report& report);

}  // namespace glaive::bench

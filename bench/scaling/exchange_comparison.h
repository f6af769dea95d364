// CompareExchange: an exchange by key between two executors (in one node, over local memory, and in two, over shared
// memory) beside one between two threads that is written by hand, in turns.
//
//   absl::Status status = CompareExchange(kind, settings, report);
#pragma once

#include "absl/status/status.h"

#include "bench/scaling/report.h"
#include "bench/scaling/settings.h"
#include "bench/scaling/workload_kinds.h"

namespace glaive::bench {

/// DataLoss if a record is lost or comes twice.
absl::Status CompareExchange(const WorkloadKind& kind, const Settings& settings, Report& report);

}  // namespace glaive::bench

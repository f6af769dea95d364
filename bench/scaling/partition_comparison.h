// ComparePartitioning: Slash beside UpPar on as many executors of one node, in turns, and on two also beside a
// hand-written loop of two threads, of which one partitions and the other folds (bench/baseline/partition_loop.h). Of
// UpPar's executors half read, each twice as many records as an executor of Slash, so that both read as many.
//
//   absl::Status status = ComparePartitioning(kind, settings, report);
#pragma once

#include "absl/status/status.h"

#include "bench/scaling/report.h"
#include "bench/scaling/settings.h"
#include "bench/scaling/workload_kinds.h"

namespace glaive::bench {

/// Errors are those of MakeWorkload and of the runs; DataLoss if UpPar's results differ from those of the loop.
absl::Status ComparePartitioning(const WorkloadKind& kind, const Settings& settings, Report& report);

}  // namespace glaive::bench

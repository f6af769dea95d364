// The engine beside the hand-written loops of the queries (queries/loops), on one executor and on more: the same
// generated records, the same filter, join, windows and emission, in one process and in turns, so that all see the same
// machine.
//
//   scaling_bench --workload=nb7                  one and two executors beside one and two threads of the loop
//   scaling_bench --workload=nb7 --executors=1    one of each
//   scaling_bench --workload=nb7 --executors=4,8  processor time of a record on more executors than processors
//   scaling_bench --skew                          two executors on keys that are skewed more and more
//   scaling_bench --workload=nb7 --uppar          Slash beside UpPar, which re-partitions, on two executors
//   scaling_bench --workload=wordcount            words counted where they are read, and where their key is led
//   scaling_bench --workload=exchange             two executors beside two threads that exchange records by key
//
// Every executor reads as many records of its own, however many there are. Prints each run, and medians with their
// range. All results are compared.
#include <iostream>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bench/scaling/exchange_comparison.h"
#include "bench/scaling/loop_comparison.h"
#include "bench/scaling/partition_comparison.h"
#include "bench/scaling/processor_time.h"
#include "bench/scaling/report.h"
#include "bench/scaling/settings.h"
#include "bench/scaling/skew.h"
#include "engine/cluster/standard_streams.h"
#include "engine/metrics/machine.h"
#include "rdma/base/exhaustion.h"

namespace glaive::bench {
namespace {

absl::Status Measure(const WorkloadKind& kind, const Settings& settings, Report& report) {
  if (settings.skew) {
    return CompareSkew(kind, settings, report);
  }
  if (settings.uppar) {
    return ComparePartitioning(kind, settings, report);
  }
  if (settings.executors.front() != 1) {
    return CompareProcessorTime(kind, settings, report);
  }
  return kind.is_exchange ? CompareExchange(kind, settings, report) : CompareWithLoop(kind, settings, report);
}

int Main(int argc, char** argv) {
  engine::PrepareStandardStreams();
  Settings settings;
  if (const std::optional<int> exit_code = ParseSettings(argc, argv, settings)) {
    return engine::ExitCodeAfterOutput("scaling_bench", *exit_code, 1);
  }
  absl::StatusOr<Report> report = Report::Create(settings.json, settings.texts);
  absl::Status status = report.status();
  if (status.ok()) {
    const engine::MachineInfo machine = engine::DescribeMachine();
    std::cout << "machine " << machine.cpu_model << ", " << machine.cores << " processors\n" << std::flush;
  }
  for (auto kind = settings.workloads.begin(); kind != settings.workloads.end() && status.ok(); ++kind) {
    status = Measure(*kind, settings, *report);
  }
  status.Update(status.ok() ? report->Write() : status);
  status.Update(engine::FlushStandardOutput(std::cout));
  if (!status.ok()) {
    std::cerr << "scaling_bench: " << status.message() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace glaive::bench

int main(int argc, char** argv) {
  return glaive::RunMain([&] { return glaive::bench::Main(argc, argv); });
}

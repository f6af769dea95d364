#include "bench/scaling/processor_time.h"

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "bench/scaling/engine_run.h"
#include "bench/scaling/turns.h"

namespace glaive::bench {
namespace {

std::string NameOf(std::uint32_t executors) { return absl::StrCat("engine 1 x ", executors); }

}  // namespace

absl::Status CompareProcessorTime(const WorkloadKind& kind, const Settings& settings, Report& report) {
  std::set<std::uint32_t> executors(settings.executors.begin(), settings.executors.end());
  executors.insert(2);
  InputSize size = kind.input;
  size.executors = *executors.rbegin();
  const absl::StatusOr<Workload> workload = MakeWorkload(kind, size);
  if (!workload.ok()) {
    return workload.status();
  }
  Turns turns(workload->name, report);
  for (const std::uint32_t count : executors) {
    const Deployment deployment{.nodes = 1, .executors = count};
    const absl::StatusOr<std::uint64_t> state_bytes = StateToPrefault(*workload, deployment, settings.prefault);
    if (!state_bytes.ok()) {
      return state_bytes.status();
    }
    turns.Add({.name = NameOf(count),
               .input = NameOf(count),
               .measure = [&workload, deployment, prefault_bytes = *state_bytes] {
                 return RunEngine(*workload, deployment, prefault_bytes);
               }});
  }
  if (absl::Status status = turns.Run(settings.runs); !status.ok()) {
    return status;
  }
  const auto nanos = [&](std::uint32_t count) {
    return turns.Figures(NameOf(count), &Measurement::processor_nanos_a_record);
  };
  for (const std::uint32_t count : executors) {
    turns.PrintFigure(absl::StrCat(NameOf(count), ", ns of processor time a record"), nanos(count));
  }
  for (const std::uint32_t count : executors) {
    if (count != 2) {
      turns.PrintFigure(absl::StrCat("processor time a record, ", count, "/2"), Ratios(nanos(count), nanos(2)),
                        workload->wanted.processor_time == 0
                            ? ""
                            : absl::StrFormat(", wanted at most %.2f", workload->wanted.processor_time));
    }
  }
  return absl::OkStatus();
}

}  // namespace glaive::bench

#include "bench/scaling/exchange_comparison.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "bench/scaling/engine_run.h"
#include "bench/scaling/loop_run.h"
#include "bench/scaling/turns.h"

namespace glaive::bench {
namespace {

constexpr char kThreads[] = "threads 2";
constexpr char kInput[] = "of both";
constexpr std::array<Deployment, 2> kTwoExecutors = {{{.nodes = 1, .executors = 2}, {.nodes = 2, .executors = 1}}};

std::string NameOf(const Deployment& deployment) { return absl::StrCat("engine ", deployment.Name()); }

}  // namespace

absl::Status CompareExchange(const WorkloadKind& kind, const Settings& settings, Report& report) {
  InputSize size = kind.input;
  size.executors = 2;
  const absl::StatusOr<Workload> workload = MakeWorkload(kind, size);
  if (!workload.ok()) {
    return workload.status();
  }
  Turns turns(workload->name, report);
  turns.Add({.name = kThreads, .input = kInput, .measure = [&] { return RunLoops(*workload, 2); }});
  for (const Deployment& deployment : kTwoExecutors) {
    turns.Add({.name = NameOf(deployment), .input = kInput, .measure = [&workload, deployment] {
                 return RunEngine(*workload, deployment, /*prefault_bytes=*/0);
               }});
  }
  if (absl::Status status = turns.Run(settings.runs); !status.ok()) {
    return status;
  }
  turns.PrintFigure(absl::StrCat(kThreads, ", M records/s"), turns.Rates(kThreads));
  for (const Deployment& deployment : kTwoExecutors) {
    turns.PrintFigure(absl::StrCat(NameOf(deployment), ", M records/s"), turns.Rates(NameOf(deployment)));
    turns.PrintFigure(absl::StrCat(NameOf(deployment), " / ", kThreads),
                      Ratios(turns.Rates(NameOf(deployment)), turns.Rates(kThreads)),
                      absl::StrFormat(", wanted %.2f", workload->wanted.share_of_threads));
  }
  return absl::OkStatus();
}

}  // namespace glaive::bench

#include "bench/scaling/loop_comparison.h"

#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "bench/scaling/engine_run.h"
#include "bench/scaling/loop_run.h"
#include "bench/scaling/turns.h"

namespace glaive::bench {
namespace {

const Deployment kOne{.nodes = 1, .executors = 1};
constexpr std::array<Deployment, 2> kTwo = {{{.nodes = 1, .executors = 2}, {.nodes = 2, .executors = 1}}};

std::string NameOfEngine(const Deployment& deployment) { return absl::StrCat("engine ", deployment.Name()); }
std::string NameOfMoving(const Deployment& deployment) { return absl::StrCat("moving ", deployment.Name()); }
std::string NameOfLoops(std::uint32_t threads) { return absl::StrCat("loop ", threads); }
std::string InputOfExecutors(std::uint32_t executors) { return absl::StrCat("of ", executors); }

/// ", wanted 0.85", if a figure is wanted.
std::string Wanted(double figure) { return figure == 0 ? "" : absl::StrFormat(", wanted %.2f", figure); }

Workload MovingOf(Workload workload) {
  workload.build_query = workload.build_moving_query;
  return workload;
}

absl::Status AddEngine(const Workload& workload, const Deployment& deployment, bool prefault, Turns& turns) {
  const absl::StatusOr<std::uint64_t> state_bytes = StateToPrefault(workload, deployment, prefault);
  if (!state_bytes.ok()) {
    return state_bytes.status();
  }
  turns.Add({.name = NameOfEngine(deployment),
             .input = InputOfExecutors(deployment.executor_count()),
             .measure = [&workload, deployment, prefault_bytes = *state_bytes] {
               return RunEngine(workload, deployment, prefault_bytes);
             }});
  return absl::OkStatus();
}

/// The query whose records move, if there is one.
void AddMoving(const Workload& workload, const Deployment& deployment, Turns& turns) {
  if (workload.build_moving_query != nullptr) {
    turns.Add({.name = NameOfMoving(deployment),
               .input = InputOfExecutors(deployment.executor_count()),
               .measure = [moving = MovingOf(workload), deployment] {
                 return RunEngine(moving, deployment, /*prefault_bytes=*/0);
               }});
  }
}

void AddLoops(const Workload& workload, std::uint32_t threads, Turns& turns) {
  if (workload.make_loop != nullptr) {
    // Two threads emit a key that both have twice: nothing else has to emit the same.
    turns.Add({.name = NameOfLoops(threads),
               .input = threads == 1 ? InputOfExecutors(1) : "of threads",
               .measure = [&workload, threads] { return RunLoops(workload, threads); }});
  }
}

absl::Status ExpectWhatASequentialLoopEmits(const Workload& workload, Turns& turns) {
  const absl::StatusOr<Loop> loop = workload.make_sequential_loop();
  if (loop.ok()) {
    turns.Expect(InputOfExecutors(2), "a sequential loop", (*loop)());
  }
  return loop.status();
}

void PrintLatency(const Deployment& deployment, const Turns& turns) {
  const std::string engine = NameOfEngine(deployment);
  turns.PrintFigure(absl::StrCat(engine, ", p50 of window latency, ms"),
                    turns.Figures(engine, &Measurement::latency_p50_ms));
  turns.PrintFigure(absl::StrCat(engine, ", p99 of window latency, ms"),
                    turns.Figures(engine, &Measurement::latency_p99_ms));
}

void PrintRate(const std::string& subject, const Turns& turns) {
  turns.PrintFigure(absl::StrCat(subject, ", M records/s"), turns.Rates(subject));
}

void PrintGainOfTwo(const Workload& workload, const Turns& turns) {
  const std::vector<double> one = turns.Rates(NameOfEngine(kOne));
  std::vector<double> gain_of_loop;
  if (workload.make_loop != nullptr) {
    gain_of_loop = Ratios(turns.Rates(NameOfLoops(2)), turns.Rates(NameOfLoops(1)));
    turns.PrintFigure("loop 2/1", gain_of_loop);
  }
  for (const Deployment& deployment : kTwo) {
    const std::vector<double> gain = Ratios(turns.Rates(NameOfEngine(deployment)), one);
    turns.PrintFigure(absl::StrCat("engine 2/1, ", deployment.Name()), gain, Wanted(workload.wanted.gain_of_two));
    if (workload.make_loop != nullptr) {
      turns.PrintFigure(absl::StrCat("retained, ", deployment.Name()), Ratios(gain, gain_of_loop),
                        Wanted(workload.wanted.share_of_gain));
    }
    if (workload.build_moving_query != nullptr) {
      turns.PrintFigure(absl::StrCat("moving / not, ", deployment.Name()),
                        Ratios(turns.Rates(NameOfMoving(deployment)), turns.Rates(NameOfEngine(deployment))),
                        Wanted(workload.wanted.share_of_unmoved));
    }
  }
}

}  // namespace

absl::Status CompareWithLoop(const WorkloadKind& kind, const Settings& settings, Report& report) {
  const bool with_two = settings.executors.back() == 2;
  InputSize size = kind.input;
  size.executors = with_two ? 2 : 1;
  const absl::StatusOr<Workload> workload = MakeWorkload(kind, size);
  if (!workload.ok()) {
    return workload.status();
  }
  const std::vector<Deployment> two =
      with_two ? std::vector<Deployment>(kTwo.begin(), kTwo.end()) : std::vector<Deployment>{};
  Turns turns(workload->name, report);
  AddLoops(*workload, 1, turns);
  absl::Status status = AddEngine(*workload, kOne, settings.prefault, turns);
  if (with_two) {
    AddLoops(*workload, 2, turns);
    if (settings.verify && workload->make_sequential_loop != nullptr) {
      status.Update(ExpectWhatASequentialLoopEmits(*workload, turns));
    }
  }
  for (const Deployment& deployment : two) {
    status.Update(status.ok() ? AddEngine(*workload, deployment, settings.prefault, turns) : status);
    AddMoving(*workload, deployment, turns);
  }
  status.Update(status.ok() ? turns.Run(settings.runs) : status);
  if (!status.ok()) {
    return status;
  }
  if (workload->make_loop != nullptr) {
    PrintRate(NameOfLoops(1), turns);
  }
  PrintRate(NameOfEngine(kOne), turns);
  if (workload->make_loop != nullptr) {
    turns.PrintFigure("engine / loop", Ratios(turns.Rates(NameOfEngine(kOne)), turns.Rates(NameOfLoops(1))),
                      Wanted(workload->wanted.share_of_loop));
  }
  if (with_two) {
    PrintGainOfTwo(*workload, turns);
  }
  PrintLatency(kOne, turns);
  for (const Deployment& deployment : two) {
    PrintLatency(deployment, turns);
  }
  return absl::OkStatus();
}

}  // namespace glaive::bench

#include "bench/scaling/partition_comparison.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "bench/scaling/engine_run.h"
#include "bench/scaling/loop_run.h"
#include "bench/scaling/turns.h"

namespace glaive::bench {
namespace {

constexpr char kPartitioningThreads[] = "threads 1 + 1";
/// UpPar itself, beside the threads.
constexpr double kWantedOfThreads = 0.7;

/// Slash and UpPar on so many executors, with their inputs.
struct Pair {
  std::uint32_t executors;
  Workload slash_workload;
  Workload uppar_workload;

  std::string slash() const { return absl::StrCat("slash 1 x ", executors); }
  std::string uppar() const { return absl::StrCat("uppar 1 x ", executors); }
};

absl::StatusOr<Pair> MakePair(const WorkloadKind& kind, std::uint32_t executors) {
  InputSize size = kind.input;
  size.executors = executors;
  absl::StatusOr<Workload> slash = MakeWorkload(kind, size);
  if (!slash.ok()) {
    return slash.status();
  }
  const std::uint32_t readers = executors / 2;
  size.records = slash->records / size.repetitions * executors / readers;
  size.executors = readers;
  absl::StatusOr<Workload> uppar = MakeWorkload(kind, size);
  if (!uppar.ok()) {
    return uppar.status();
  }
  return Pair{.executors = executors, .slash_workload = *std::move(slash), .uppar_workload = *std::move(uppar)};
}

absl::Status AddTurns(const Pair& pair, bool prefault, bool verify, Turns& turns) {
  const Deployment slash{.nodes = 1, .executors = pair.executors};
  const Deployment uppar{.nodes = 1, .executors = pair.executors, .partitioners = pair.executors / 2};
  const auto slash_bytes = StateToPrefault(pair.slash_workload, slash, prefault);
  const auto uppar_bytes = StateToPrefault(pair.uppar_workload, uppar, prefault);
  if (!slash_bytes.ok() || !uppar_bytes.ok()) {
    return slash_bytes.ok() ? uppar_bytes.status() : slash_bytes.status();
  }
  turns.Add({.name = pair.slash(), .input = pair.slash(), .measure = [&pair, slash, bytes = *slash_bytes] {
               return RunEngine(pair.slash_workload, slash, bytes);
             }});
  turns.Add({.name = pair.uppar(), .input = pair.uppar(), .measure = [&pair, uppar, bytes = *uppar_bytes] {
               return RunEngine(pair.uppar_workload, uppar, bytes);
             }});
  if (verify && pair.uppar_workload.make_sequential_loop != nullptr) {
    const absl::StatusOr<Loop> loop = pair.uppar_workload.make_sequential_loop();
    if (!loop.ok()) {
      return loop.status();
    }
    turns.Expect(pair.uppar(), "a sequential loop", (*loop)());
  }
  if (pair.executors == 2 && pair.uppar_workload.make_partition_loop != nullptr) {
    Workload threads = pair.uppar_workload;
    threads.make_loop = threads.make_partition_loop;
    threads.records /= 2;  // both threads together read those of one executor
    turns.Add(
        {.name = kPartitioningThreads, .input = pair.uppar(), .measure = [threads] { return RunLoops(threads, 2); }});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ComparePartitioning(const WorkloadKind& kind, const Settings& settings, Report& report) {
  std::vector<std::unique_ptr<const Pair>> pairs;
  Turns turns(kind.name, report);
  for (const std::uint32_t executors : settings.executors) {
    absl::StatusOr<Pair> pair = MakePair(kind, executors);
    if (!pair.ok()) {
      return pair.status();
    }
    pairs.push_back(std::make_unique<const Pair>(*std::move(pair)));
    if (absl::Status status = AddTurns(*pairs.back(), settings.prefault, settings.verify, turns); !status.ok()) {
      return status;
    }
  }
  if (absl::Status status = turns.Run(settings.runs); !status.ok()) {
    return status;
  }
  const auto nanos = [&](const std::string& subject) {
    return turns.Figures(subject, &Measurement::processor_nanos_a_record);
  };
  for (const auto& pair : pairs) {
    for (const std::string& subject : {pair->slash(), pair->uppar()}) {
      turns.PrintFigure(subject + ", M records/s", turns.Rates(subject));
      turns.PrintFigure(subject + ", ns of processor time a record", nanos(subject));
    }
    const double wanted = pair->slash_workload.wanted.gain_over_uppar;
    turns.PrintFigure(absl::StrCat(pair->slash(), " / uppar"),
                      Ratios(turns.Rates(pair->slash()), turns.Rates(pair->uppar())),
                      wanted == 0 || pair->executors != 2 ? "" : absl::StrFormat(", wanted %.2f", wanted));
    turns.PrintFigure(absl::StrCat(pair->slash(), " / uppar, processor time saved"),
                      Ratios(nanos(pair->uppar()), nanos(pair->slash())));
    if (pair->executors == 2 && pair->uppar_workload.make_partition_loop != nullptr) {
      turns.PrintFigure(absl::StrCat(kPartitioningThreads, ", M records/s"), turns.Rates(kPartitioningThreads));
      turns.PrintFigure(absl::StrCat(pair->uppar(), " / ", kPartitioningThreads),
                        Ratios(turns.Rates(pair->uppar()), turns.Rates(kPartitioningThreads)),
                        absl::StrFormat(", wanted %.2f", kWantedOfThreads));
    }
  }
  return absl::OkStatus();
}

}  // namespace glaive::bench

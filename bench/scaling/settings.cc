#include "bench/scaling/settings.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "engine/flags/flag_set.h"
#include "engine/metrics/build_info.h"

namespace glaive::bench {
namespace {

constexpr char kAll[] = "all";
constexpr char kGroup[] = "Benchmark";
constexpr std::uint32_t kMostExecutors = 64;

/// The flags' values as they are given.
struct Given {
  std::string workload = kAll;
  std::string executors = "1,2";
  // Of the input; 0 and empty: the workload's own.
  std::uint64_t records = 0;
  std::uint64_t windows = 0;
  std::uint64_t repetitions = 0;
  std::uint64_t keys = 0;
  std::string key_distribution;
};

absl::Status ParseExecutors(const std::string& text, std::vector<std::uint32_t>& executors) {
  executors.clear();
  for (const auto word : absl::StrSplit(text, ',')) {
    std::uint32_t number = 0;
    if (!absl::SimpleAtoi(word, &number) || number < 1 || number > kMostExecutors) {
      return absl::InvalidArgumentError(absl::StrCat("--executors=", text, ": write numbers from 1 to ", kMostExecutors,
                                                     " with commas between them, e.g. 4,8"));
    }
    executors.push_back(number);
  }
  if (executors.front() == 1 && executors != std::vector<std::uint32_t>{1} &&
      executors != std::vector<std::uint32_t>{1, 2}) {
    return absl::InvalidArgumentError(
        absl::StrCat("--executors=", text, ": write 1, or 1,2, or numbers that are all at least 2"));
  }
  return absl::OkStatus();
}

/// With --skew only these have skewed keys to read.
bool HasSkew(const WorkloadKind& kind) { return kind.name == "ysb" || kind.name == "ro"; }

absl::Status ChooseWorkloads(const Given& given, Settings& settings) {
  settings.workloads.clear();
  for (WorkloadKind kind : WorkloadKinds()) {
    if ((given.workload != kAll && given.workload != kind.name) || (settings.skew && !HasSkew(kind)) ||
        (settings.uppar && !kind.has_uppar)) {
      continue;
    }
    const auto replace = [](std::uint64_t with, std::uint64_t& value) { value = with == 0 ? value : with; };
    replace(given.records, kind.input.records);
    replace(given.windows, kind.input.windows);
    replace(given.repetitions, kind.input.repetitions);
    replace(given.keys, kind.input.keys);
    if (!given.key_distribution.empty()) {
      kind.input.key_distribution = given.key_distribution;
    }
    settings.workloads.push_back(kind);
  }
  if (!settings.workloads.empty()) {
    return absl::OkStatus();
  }
  return settings.skew
             ? absl::InvalidArgumentError("--skew goes with --workload=ysb, ro or all, whose keys can be skewed")
             : absl::InvalidArgumentError("--uppar goes with --workload=ysb, ysb-yahoo, nb7, cm, nb8, nb11, ro or all");
}

void Register(engine::FlagSet& flags, Given& given, Settings& settings) {
  std::vector<std::pair<std::string, std::string>> names = {{kAll, kAll}};
  std::ranges::transform(WorkloadKinds(), std::back_inserter(names),
                         [](const WorkloadKind& kind) { return std::pair(kind.name, kind.name); });
  flags.AddChoice({.name = "workload", .group = kGroup, .help = "which query, or all, one after the other"},
                  given.workload, names);
  flags.AddString({.name = "executors",
                   .group = kGroup,
                   .help = "1,2: two executors and two threads of the loop beside one; 1: one executor beside one "
                           "thread; larger numbers: processor time of so many executors in a node, beside that of 2"},
                  given.executors, "LIST");
  flags.AddSwitch({.name = "skew",
                   .group = kGroup,
                   .help = "instead, two executors on keys of Zipf(0.2) to Zipf(2.0), with the workloads ysb and ro"},
                  settings.skew);
  flags.AddSwitch({.name = "uppar",
                   .group = kGroup,
                   .help = "instead, Slash beside UpPar on the numbers of --executors, which are even (2), and beside "
                           "two threads that partition records"},
                  settings.uppar);
  flags.AddInteger({.name = "runs", .group = kGroup, .help = "runs of each"}, settings.runs, {.min = 1, .max = 1000});
  flags.AddSwitch({.name = "prefault",
                   .group = kGroup,
                   .help = "take the engine's state memory from the system before the clock starts, as the loop's is"},
                  settings.prefault);
  flags.AddSwitch({.name = "verify",
                   .group = kGroup,
                   .help = "compare two executors' results with those of one loop over all their input"},
                  settings.verify);
  flags.AddString({.name = "json", .group = kGroup, .help = "file for all figures as one JSON object"}, settings.json,
                  "FILE");
  const std::string group = "Input; 0: the workload's own";
  flags.AddInteger({.name = "records", .group = group, .help = "records in memory for each executor"}, given.records,
                   {.min = 0, .max = 1'000'000'000});
  flags.AddInteger({.name = "windows", .group = group, .help = "windows that they span"}, given.windows,
                   {.min = 0, .max = 1'000'000});
  flags.AddInteger({.name = "repetitions", .group = group, .help = "times they are read"}, given.repetitions,
                   {.min = 0, .max = 1'000'000});
  flags.AddInteger({.name = "keys", .group = group, .help = "distinct keys, where the query does not fix them"},
                   given.keys, {.min = 0, .max = 1ULL << 32});
  flags.AddString({.name = "key-distribution", .group = group, .help = "uniform, zipf:Z, pareto:A or geometric:P"},
                  given.key_distribution, "LAW");
}

absl::Status Check(const engine::FlagSet& flags, const Given& given, Settings& settings) {
  const bool is_default = settings.uppar && !flags.WasGiven("executors");
  absl::Status status = ParseExecutors(is_default ? "2" : given.executors, settings.executors);
  if (settings.uppar && std::ranges::any_of(settings.executors, [](std::uint32_t count) { return count % 2 != 0; })) {
    status.Update(
        absl::InvalidArgumentError(absl::StrCat("--executors=", given.executors,
                                                ": with --uppar half of the executors partition, so write even "
                                                "numbers, e.g. 2,4,8")));
  }
  if (settings.uppar && settings.skew) {
    status.Update(absl::InvalidArgumentError("--uppar and --skew are two benchmarks: leave one of them out"));
  }
  if (!given.key_distribution.empty()) {
    const absl::Status law = queries::KeyLaw::Parse(given.key_distribution).status();
    status.Update(
        law.ok() ? law : absl::InvalidArgumentError(absl::StrCat("--key-distribution: ", std::string(law.message()))));
  }
  if (settings.skew && (flags.WasGiven("executors") || flags.WasGiven("key-distribution"))) {
    status.Update(
        absl::InvalidArgumentError("--skew has executors and keys of its own: leave out --executors and "
                                   "--key-distribution"));
  }
  status.Update(ChooseWorkloads(given, settings));
  return status;
}

}  // namespace

std::optional<int> ParseSettings(int argc, char** argv, Settings& settings) {
  engine::FlagSet flags({.program = "scaling_bench",
                         .summary = "The engine beside hand-written loops, on one executor and on more.",
                         .version = std::string(engine::Version()),
                         .commit = std::string(engine::Commit())});
  Given given;
  Register(flags, given, settings);
  flags.AddCheck([&] { return Check(flags, given, settings); });
  const std::optional<int> exit_code = flags.Parse(argc, argv, std::cout, std::cerr);
  settings.texts = flags.AllSettings();
  return exit_code;
}

}  // namespace glaive::bench

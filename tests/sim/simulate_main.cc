// simulate: runs simulated clusters from seeds; see --help and docs/testing.md.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/cluster/standard_streams.h"
#include "engine/flags/tool_flags.h"
#include "tests/sim/batch.h"
#include "tests/sim/catalogue.h"
#include "tests/sim/coverage.h"
#include "tests/sim/shrink.h"
#include "tests/sim/simulation.h"

namespace glaive::sim {
namespace {

/// Shrinking tries up to some hundred scenarios. One that does not end takes most of a minute.
constexpr std::chrono::minutes kShrinkFor{2};

struct Flags {
  std::uint64_t seed = 0;
  std::uint64_t seeds = 0;
  std::uint64_t first = 1;
  std::uint32_t jobs = std::max(1U, std::thread::hardware_concurrency());
  std::string set;
  bool trace = false;
  bool list = false;
  bool forever = false;
  bool require_coverage = false;
  bool shrink = true;
  std::uint32_t most_failures = 3;
};

std::string Reproduction(const Scenario& scenario, const Scenario& drawn) {
  const std::string difference = scenario.DifferenceTo(drawn);
  return absl::StrCat("simulate --seed=", scenario.seed, difference.empty() ? "" : absl::StrCat(" --set=", difference));
}

std::string NameOf(const Fault& fault) {
  return absl::StrCat(std::string(Name(fault.kind)),
                      StrikesAnywhere(fault.kind) ? absl::StrCat(" at ", std::string(Name(fault.step))) : "");
}

std::string_view Struck(const Outcome& outcome) {
  const auto [first, second] = outcome.has_struck;
  if (first && second) return "and the second one struck";
  if (first) return "struck";
  return second ? "did not strike, the second one did" : "did not strike";
}

int RunOne(const Flags& flags, const std::vector<CatalogueEntry>& catalogue) {
  Scenario scenario = DrawScenario(flags.seed, catalogue);
  if (absl::Status status = scenario.Set(flags.set); !status.ok()) {
    std::cerr << "simulate: " << status.message() << "\n";
    return 2;
  }
  const CatalogueEntry& entry = catalogue[static_cast<std::size_t>(scenario.query) % catalogue.size()];
  const auto [first, second] = scenario.faults();
  std::cout << "seed " << scenario.seed << ": " << entry.name << "; " << scenario.DifferenceTo({}) << "; fault "
            << NameOf(first) << (second.kind == FaultKind::kNone ? "" : absl::StrCat(", ", NameOf(second))) << "\n"
            << std::flush;
  const Outcome outcome = Simulate(scenario, catalogue, flags.trace ? &std::cout : nullptr);
  std::cout << absl::StreamFormat("%d steps, %.3f virtual ms, %d rows, %d late, fault %s, run %s, fingerprint %016x\n",
                                  outcome.steps, static_cast<double>(outcome.virtual_ns) * 1e-6, outcome.rows,
                                  outcome.late_rows, Struck(outcome), outcome.has_failed ? "failed" : "ended well",
                                  outcome.fingerprint);
  std::cout << (outcome.problem.empty() ? "right" : absl::StrCat("WRONG: ", outcome.problem)) << "\n";
  return outcome.problem.empty() ? 0 : 1;
}

int RunMany(const Flags& flags, const std::vector<CatalogueEntry>& catalogue) {
  Coverage coverage(catalogue);
  const BatchResult result = RunBatch({.first = flags.first,
                                       .count = flags.forever ? 0 : flags.seeds,
                                       .jobs = flags.jobs,
                                       .most_failures = flags.most_failures,
                                       .is_terminal = isatty(STDERR_FILENO) == 1},
                                      catalogue, coverage, std::cerr);
  coverage.Print(std::cout);
  for (const FailedSeed& failure : result.failures) {
    const Scenario drawn = DrawScenario(failure.seed, catalogue);
    std::cout << "FAILED seed " << failure.seed << ": " << failure.problem << "\n" << std::flush;
    if (!flags.shrink) continue;
    const auto end = std::chrono::steady_clock::now() + kShrinkFor;
    const Scenario smallest = Shrink(drawn, [&](const Scenario& tried) {
      return std::chrono::steady_clock::now() < end && !RunApart(tried, catalogue).empty();
    });
    std::cout << "  smallest: " << Reproduction(smallest, drawn) << "\n  which says: " << RunApart(smallest, catalogue)
              << "\n"
              << std::flush;
  }
  if (!result.failures.empty()) return 1;
  const std::vector<std::string> missing = coverage.Missing();
  for (const std::string& each : missing) std::cout << "never met: " << each << "\n";
  if (flags.require_coverage && !missing.empty()) {
    std::cout << "FAILED: a batch has to meet everything; use more seeds\n";
    return 1;
  }
  std::cout << "all " << result.done << " right: seeds " << flags.first << " to " << flags.first + result.done - 1
            << "\n";
  return 0;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app(
      "Runs whole clusters in one thread and virtual time, each from a seed, with faults, and checks their results. "
      "Exits "
      "0 if all is right, 1 if a seed fails, the system refuses something or the output is lost, 2 for wrong flags.");
  auto* const seed = app.add_option("--seed", flags.seed, "run this one");
  app.add_option("--set", flags.set, "NAME=NUMBER,...: change what the seed draws (only with --seed)")->needs(seed);
  app.add_flag("--trace", flags.trace, "print everything that happens (only with --seed)")->needs(seed);
  auto* const seeds = app.add_option("--seeds", flags.seeds, "run so many, from --first on")
                          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option("--first", flags.first, "the first of them")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 62));
  auto* const forever = app.add_flag("--forever", flags.forever, "run until stopped, or until seeds fail");
  app.add_option("--jobs", flags.jobs, "processes at a time")->check(CLI::Range(1U, 1024U));
  app.add_flag("--require-coverage", flags.require_coverage,
               "fail unless the seeds meet everything that tests/sim/coverage.cc lists");
  app.add_flag("--shrink,!--no-shrink", flags.shrink,
               "look for the smallest scenario that fails, for two minutes a seed");
  app.add_option("--most-failures", flags.most_failures, "stop after so many seeds have failed")
      ->check(CLI::Range(1U, 1U << 20));
  app.add_flag("--list", flags.list, "list the queries");
  if (const std::optional<int> exit_code = engine::ParseToolFlags(app, "simulate", argc, argv)) return *exit_code;
  const std::vector<CatalogueEntry> catalogue = Catalogue();
  if (flags.list) {
    for (std::size_t i = 0; i < catalogue.size(); ++i) std::cout << i << " " << catalogue[i].name << "\n";
    return 0;
  }
  if (seed->count() > 0) return RunOne(flags, catalogue);
  if (seeds->count() == 0 && forever->count() == 0) {
    std::cerr << "simulate: say --seed=N, --seeds=N or --forever; see --help\n";
    return 2;
  }
  return RunMany(flags, catalogue);
}

}  // namespace
}  // namespace glaive::sim

int main(int argc, char** argv) {
  try {
    return glaive::engine::ExitCodeAfterOutput("simulate", glaive::sim::Main(argc, argv), 1);
  } catch (const std::exception& error) {
    std::cerr << "simulate: " << error.what() << "\n";
    return 1;
  }
}

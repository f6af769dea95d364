// BenchmarkMain: the main of a benchmark whose flags are all Google Benchmark's. InitializeBenchmarks and
// RunBenchmarks: the last steps of a main that has removed the benchmark's own flags from the command line. The
// library's own main ends with 0 after a wrong value and after lost text.
//
//   int main(int argc, char** argv) { return glaive::bench::BenchmarkMain(argc, argv); }
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

#include <benchmark/benchmark.h>

#include "engine/cluster/standard_streams.h"
#include "rdma/base/exhaustion.h"

namespace glaive::bench {

/// The library opens files of /sys, and ends the process with a line that names one where it cannot.
inline constexpr rlim_t kMinDescriptors = 16;

/// Takes the library's flags out of the command line. Returns the exit code 2 after a wrong flag, and 1 where too few
/// files may be open.
inline std::optional<int> InitializeBenchmarks(int argc, char** argv) {
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_cur < kMinDescriptors) {
    std::cerr << program_invocation_short_name << ": only " << descriptors.rlim_cur
              << " files may be open, and a benchmark needs " << kMinDescriptors << "; raise ulimit -n\n";
    return 1;
  }
  benchmark::Initialize(&argc, argv, [] {  // called where a flag has a value outside its list
    std::cerr << program_invocation_short_name << ": a flag has a value that it cannot have; see --help\n";
    std::exit(2);
  });
  if (argc == 1) return std::nullopt;
  std::cerr << program_invocation_short_name << ": " << argv[1]
            << ": no flag of this program, or not with this value; see --help\n";
  return 2;
}

/// Runs all registered benchmarks that the flags select, after InitializeBenchmarks. Returns the exit code: 2 if there
/// is none, 1 if standard output cannot be written.
inline int RunBenchmarks() {
  if (benchmark::RunSpecifiedBenchmarks() == 0) {
    std::cerr << program_invocation_short_name << ": --benchmark_filter selects no benchmark; see --help\n";
    return 2;
  }
  return engine::ExitCodeAfterOutput(program_invocation_short_name, 0, 1);
}

/// The whole of the main. --help is told apart, since the library would run the benchmarks after it.
inline int BenchmarkMain(int argc, char** argv) {
  return RunMain([&] {
    if (std::find(argv + 1, argv + argc, std::string_view("--help")) == argv + argc) {
      if (const std::optional<int> exit_code = InitializeBenchmarks(argc, argv)) return *exit_code;
      return RunBenchmarks();
    }
    benchmark::PrintDefaultHelp();
    return engine::ExitCodeAfterOutput(program_invocation_short_name, 0, 1);
  });
}

}  // namespace glaive::bench

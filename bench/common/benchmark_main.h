// BenchmarkMain: the main of a benchmark whose flags are all Google Benchmark's. RunBenchmarks: the end of one that has
// taken its own flags out of the command line. The library's own main ends with 0 after a wrong value and after text
// that was lost.
//
//   int main(int argc, char** argv) { return glaive::bench::BenchmarkMain("store", argc, argv); }
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <benchmark/benchmark.h>

#include "bench/common/exit_code.h"
#include "rdma/base/exhaustion.h"

namespace glaive::bench {

/// Runs all registered benchmarks that the flags select. Returns the exit code: 2 after a wrong flag, 1 if standard
/// output cannot be written.
inline int RunBenchmarks(const char* program, int argc, char** argv) {
  benchmark::Initialize(&argc, argv, [] {  // called where a value is none of those that a flag may have
    std::cerr << program_invocation_short_name << ": a flag has a value that it cannot have; see --help\n";
    std::exit(2);
  });
  if (argc > 1) {
    std::cerr << program << ": " << argv[1] << ": unknown flag; see --help\n";
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return ExitCodeAfterOutput(program, 0, 1);
}

inline int BenchmarkMain(const char* program, int argc, char** argv) {
  return RunMain([&] {
    if (std::find(argv + 1, argv + argc, std::string_view("--help")) == argv + argc) {
      return RunBenchmarks(program, argc, argv);
    }
    benchmark::PrintDefaultHelp();
    return ExitCodeAfterOutput(program, 0, 1);
  });
}

}  // namespace glaive::bench

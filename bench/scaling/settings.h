// Settings: what the command line of scaling_bench says.
//
//   Settings settings;
//   if (const std::optional<int> exit_code = ParseSettings(argc, argv, settings)) return *exit_code;
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/scaling/workload_kinds.h"

namespace glaive::bench {

struct Settings {
  std::vector<WorkloadKind> workloads;       // with the input that is wanted of them, but for its executors
  std::vector<std::uint32_t> executors;      // {1}, {1, 2}, or numbers of 2 and more
  bool skew = false;                         // instead of all that
  bool uppar = false;                        // likewise; `executors` are even then
  std::uint64_t runs = 5;                    // of each
  bool prefault = true;                      // state memory
  bool verify = true;                        // by a sequential loop over all executors' input
  std::string json;                          // file, or empty
  std::map<std::string, std::string> texts;  // of all flags
};

/// Empty: go on. Otherwise the program's exit code; see engine::FlagSet::Parse.
std::optional<int> ParseSettings(int argc, char** argv, Settings& settings);

}  // namespace glaive::bench

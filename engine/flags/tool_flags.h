// ParseToolFlags: the command line of a program that is no query: a benchmark, the simulator.
//
//   if (const std::optional<int> exit_code = ParseToolFlags(flags, "simulate", argc, argv)) return *exit_code;
#pragma once

#include <optional>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace glaive::engine {

/// Has `flags` parse the command line. Returns the exit code if the program has to end: 0 after --help, which is
/// printed; 2 after a flag that is wrong, which standard error names. A number beyond its type is such a flag.
std::optional<int> ParseToolFlags(CLI::App& flags, const char* program, int argc, const char* const* argv);

}  // namespace glaive::engine

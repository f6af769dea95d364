// RunProgram: the life of a query's process, from its command line to its exit code.
//
//   int main(int argc, char** argv) {
//     SteadyClock clock;
//     YsbProgram program;
//     return RunProgram(argc, argv, program, {.clock = &clock, .run_token = token, .random = random});
//   }
#pragma once

#include <cstdint>

#include "engine/cluster/query_program.h"
#include "rdma/base/clock.h"
#include "rdma/base/random_bytes.h"

namespace glaive::engine {

/// The clock, random device and token of a run. Only `main` makes them, so tests can replace them.
struct RunEnvironment {
  const Clock* clock = nullptr;
  std::uint64_t run_token = 0;  // random; tells this run's messages from others'
  RandomBytes random;           // nobody can guess it: secrets and nonces
};

/// Exit codes of a query's process, as README.md lists them.
enum class ExitCode : int {
  kSuccess = 0,
  kFailed = 1,       // the run failed; the message says why
  kUsage = 2,        // a flag is wrong, or flags do not go together
  kPeerLost = 3,     // another node of the run went away or never came
  kWrongResult = 4,  // --verify found a wrong result
  kInterrupted = 130,
};

/// Reads the flags, joins or starts the other nodes, runs the query, writes the results and the report, and returns the
/// process's exit code. Whatever fails is told on standard error, by every node, in one line.
int RunProgram(int argc, const char* const* argv, QueryProgram& program, const RunEnvironment& environment);

}  // namespace glaive::engine

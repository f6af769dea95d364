#include <random>

#include "engine/cluster/run_program.h"
#include "queries/ysb/ysb_program.h"
#include "rdma/base/steady_clock.h"

int main(int argc, char** argv) {
  const glaive::SteadyClock clock;
  std::random_device entropy;
  const std::uint64_t run_token = (std::uint64_t{entropy()} << 32) | entropy();
  glaive::queries::ysb::YsbProgram program;
  return glaive::engine::RunProgram(argc, argv, program, {.clock = &clock, .run_token = run_token});
}

// QueryMain: the `main` of every query's binary: gives the program the clock and the randomness that only `main` may
// take.
//
//   int main(int argc, char** argv) { return glaive::queries::QueryMain<Nb7Program>(argc, argv); }
#pragma once

#include <cstdint>
#include <random>
#include <span>

#include "engine/cluster/run_program.h"
#include "rdma/base/exhaustion.h"
#include "rdma/base/steady_clock.h"

namespace glaive::queries {

template <typename Program>
int QueryMain(int argc, char** argv) {
  return RunMain([&] {
    const SteadyClock clock;
    std::random_device entropy;  // the kernel's
    const std::uint64_t run_token = (std::uint64_t{entropy()} << 32) | entropy();
    const auto random = [&entropy](std::span<std::uint8_t> out) {
      for (std::uint8_t& byte : out) {
        byte = static_cast<std::uint8_t>(entropy());
      }
    };
    Program program;
    return engine::RunProgram(argc, argv, program, {.clock = &clock, .run_token = run_token, .random = random});
  });
}

}  // namespace glaive::queries

// Batch: many simulations, over all processors, each seed in a process that may die of it.
//
//   const BatchResult result = RunBatch({.first = 1, .count = 1000, .jobs = 2}, catalogue, std::cout, std::cerr);
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "tests/sim/catalogue.h"
#include "tests/sim/coverage.h"

namespace glaive::sim {

struct BatchOptions {
  std::uint64_t first = 1;
  std::uint64_t count = 1;  ///< 0: until the process is stopped
  std::uint32_t jobs = 1;
  std::uint32_t most_failures = 3;  ///< after which the rest is left out
  bool is_terminal = false;         ///< shows how far it is
};

struct FailedSeed {
  std::uint64_t seed = 0;
  std::string problem;
};

struct BatchResult {
  std::uint64_t done = 0;
  std::vector<FailedSeed> failures;
};

/// Runs seeds first, first + 1, ...; what they met goes into `coverage`. Throws std::system_error if the system refuses
/// a pipe or a process.
BatchResult RunBatch(const BatchOptions& options, std::span<const CatalogueEntry> catalogue, Coverage& coverage,
                     std::ostream& progress);

/// Runs one scenario in a process of its own: its problem, or how the process died; empty: none.
/// Throws as RunBatch does.
std::string RunApart(const Scenario& scenario, std::span<const CatalogueEntry> catalogue);

}  // namespace glaive::sim

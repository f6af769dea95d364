// Simulation: one run of a scenario, from its start to the verdict.
//
// Everything happens in the calling thread and in virtual time: rounds of executors, turns of main threads, arrivals of
// pieces of writes, in an order drawn from the seed.
//
//   const Outcome outcome = Simulate(scenario, Catalogue(), nullptr);
//   if (!outcome.problem.empty()) std::cerr << outcome.problem;
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "tests/sim/catalogue.h"
#include "tests/sim/measures.h"
#include "tests/sim/scenario.h"

namespace glaive::sim {

struct Outcome : Measures {
  std::string problem;  ///< what is wrong; empty: nothing
};

/// `trace`: where to write what happens; may be null.
Outcome Simulate(const Scenario& scenario, std::span<const CatalogueEntry> catalogue, std::ostream* trace);

}  // namespace glaive::sim

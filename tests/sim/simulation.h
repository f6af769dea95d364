// Simulation: one run of a scenario, from its start to the verdict.
//
// Everything happens in the calling thread and in virtual time: rounds of executors, turns of main threads, arrivals of
// pieces of writes, in an order drawn from the seed.
//
//   const Outcome outcome = Simulate(scenario, Catalogue(), nullptr);
//   if (!outcome.problem.empty()) std::cerr << outcome.problem;
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <type_traits>

#include "tests/sim/catalogue.h"
#include "tests/sim/fault.h"
#include "tests/sim/scenario.h"

namespace glaive::sim {

/// What a run was, in numbers: they travel between processes as they lie.
struct Measures {
  std::uint64_t fingerprint = 0;
  std::int64_t virtual_ns = 0;
  std::uint64_t steps = 0;
  std::array<bool, kMostFaults> has_struck{};  ///< the scenario's faults
  bool has_failed = false;                     ///< the run, as it should
  // What was met.
  std::uint64_t rows = 0;
  std::uint64_t late_rows = 0;
  std::uint64_t late_results = 0;  ///< of a stage, for the next one
  std::uint64_t torn_writes = 0;   ///< of which a part had arrived
  std::uint64_t credit_stalls = 0;
  std::uint64_t segment_waits = 0;
  std::uint64_t folded_records = 0;
  std::uint64_t appended_records = 0;
  std::uint64_t fold_switches = 0;
  std::uint64_t index_growths = 0;
  std::uint64_t slot_slices = 0;
  std::uint64_t slot_moves = 0;
  std::uint64_t unfit_slots = 0;
  std::uint64_t slot_overflows = 0;
  std::uint64_t replaced_forms = 0;
  std::uint64_t prefetched_entries = 0;
  std::uint64_t folded_ahead = 0;
  std::uint64_t split_slices = 0;
  std::uint64_t idle_periods = 0;
  std::uint64_t rows_past_idle_flows = 0;  ///< of windows that an idle flow was behind
  std::uint64_t most_laps = 0;
};
static_assert(std::is_trivially_copyable_v<Measures>);

struct Outcome : Measures {
  std::string problem;  ///< what is wrong; empty: nothing
};

/// `trace`: where to write what happens; may be null.
Outcome Simulate(const Scenario& scenario, std::span<const CatalogueEntry> catalogue, std::ostream* trace);

}  // namespace glaive::sim

// Measures: what a simulated run was, in numbers.
//
//   outcome.Add(executor->metrics());
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "engine/metrics/node_metrics.h"
#include "state/store/table_counts.h"
#include "tests/sim/fault.h"

namespace glaive::sim {

/// What a run was, in numbers, those of its tables among them: they travel between processes as they lie.
struct Measures : state::TableCounts {
  std::uint64_t fingerprint = 0;
  std::int64_t virtual_ns = 0;
  std::uint64_t steps = 0;
  std::array<bool, kMostFaults> has_struck{};  ///< the scenario's faults
  bool has_failed = false;                     ///< the run, as it should
  // What was met.
  std::uint64_t rows = 0;
  std::uint64_t late_rows = 0;
  std::uint64_t rows_of_failure = 0;      ///< that a run which failed has published
  std::uint64_t rows_before_the_end = 0;  ///< of the flows
  std::uint64_t late_results = 0;         ///< of a stage, for the next one
  std::uint64_t torn_writes = 0;          ///< of which a part had arrived
  std::uint64_t overwritten_counts = 0;   ///< of credits, newer ones by older ones
  std::uint64_t credit_stalls = 0;
  std::uint64_t placement_waits = 0;
  std::uint64_t handed_on = 0;
  std::uint64_t segment_waits = 0;
  std::uint64_t exchange_waits = 0;
  std::uint64_t sink_waits = 0;  ///< rounds in which a busy sink was asked for
  std::uint64_t folded_records = 0;
  std::uint64_t appended_records = 0;
  std::uint64_t fold_switches = 0;
  std::uint64_t combiner_renewals = 0;
  std::uint64_t opened_ahead = 0;
  std::uint64_t touched_bytes = 0;
  std::uint64_t idle_periods = 0;
  std::uint64_t rows_past_idle_flows = 0;  ///< of windows that an idle flow was behind
  std::uint64_t most_laps = 0;

  /// Adds what an executor has met.
  void Add(const engine::ExecutorMetrics& metrics);
};
static_assert(std::is_trivially_copyable_v<Measures>);

}  // namespace glaive::sim

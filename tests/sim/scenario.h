// Scenario: everything that is drawn before a simulation runs: the query, the cluster, the input, the network, faults.
//
// All of it follows from the seed. Each number has a name, by which --set overrides it and by which shrinking makes a
// failing scenario smaller: see Knobs().
//
//   Scenario scenario = DrawScenario(seed, queries);
//   absl::Status status = scenario.Set("nodes=2,records=50");
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "engine/executor/roles.h"
#include "engine/flags/engine_options.h"
#include "state/log/state_thresholds.h"
#include "tests/sim/event.h"
#include "tests/sim/fault.h"

namespace glaive::sim {

struct CatalogueEntry;

struct Scenario {
  std::uint64_t seed = 0;

  // All of them integers, so that they can be listed.
  std::int64_t query = 0;  ///< its number in the catalogue
  std::int64_t nodes = 1;
  std::int64_t executors = 1;     ///< of a node
  std::int64_t partitioners = 0;  ///< of each group (engine::Roles): the others lead; 0: each executor reads and leads
  std::int64_t feeds = 0;         ///< 1: half of the executors read, and stream what they read to the others
  std::int64_t one_host = 1;      ///< 0: each node is on a host of its own

  std::int64_t records = 100;  ///< of each flow
  std::int64_t keys = 10;
  std::int64_t key_stride = 1;     ///< between neighbouring keys
  std::int64_t keys_grow = 0;      ///< 1: a flow's first records have few of them, its last ones all
  std::int64_t keys_pass = 0;      ///< 1: a key recurs in a stretch of a flow, and never later
  std::int64_t hot_percent = 0;    ///< of the records, that carry key 0
  std::int64_t large_percent = 6;  ///< of the records, whose weights a double cannot add to others without rounding
  std::int64_t span_ms = 10'000;   ///< of event time
  std::int64_t disorder_ms = 0;    ///< that a record may be behind its time
  std::int64_t bound_ms = 0;       ///< that the watermark is
  std::int64_t lateness_ms = 0;    ///< that the query allows
  std::int64_t batch = 10;         ///< records
  std::int64_t silent = 0;         ///< 1: a flow falls silent for longer than the idle timeout
  std::int64_t idle_timeout_ms = 400;
  std::int64_t silent_source = 0;  ///< 1: all flows of the first source do, where the query can tell what is right then
  std::int64_t others_last = 0;    ///< 1: the other sources' records come over about as long a time then
  std::int64_t heartbeats = 0;     ///< 1: some watermarks come behind their batches, in batches without records
  std::int64_t skips = 0;          ///< times that a flow's source reads what has no record in it, amid the others

  std::int64_t slot_bytes = 1024;
  std::int64_t credits = 8;
  std::int64_t fragment_bytes = 64 << 10;
  std::int64_t combiner_bytes = 512 << 10;
  std::int64_t trial_records = 1 << 16;  ///< after which an executor decides whether to go on folding
  std::int64_t trials_between = 16;      ///< so many times as many are appended before it tries again
  std::int64_t records_per_saved = 4;    ///< folding goes on if it saves one in so many
  std::int64_t rows_per_turn = 4'096;    ///< that a trigger hands on
  std::int64_t epoch_bytes = 4'096;
  std::int64_t epoch_min_bytes = 1;
  std::int64_t epoch_interval_us = 1'000;
  std::int64_t max_lead_ms = 0;  ///< 0: the default

  // state::StateThresholds; the simplest values are those of small tables without cells.
  std::int64_t cached_cells_bytes = 2 << 20;
  std::int64_t first_level_cells_bytes = 128 << 10;
  std::int64_t cached_log_bytes = 1 << 20;
  std::int64_t split_bytes = 1 << 20;
  std::int64_t split_bits = 8;
  std::int64_t region_pages = 512;  ///< of 4 KiB
  std::int64_t touched_bytes_per_update = 2'048;
  std::int64_t many_keys = 1 << 18;
  std::int64_t updates_between_reviews = 4'096;
  std::int64_t fewest_moved = 128;
  std::int64_t values_tried = 1'024;
  std::int64_t refused_records_allowed = 1'000;
  std::int64_t entries_per_turn = 4'096;
  std::int64_t slices_per_turn = 64;
  std::int64_t cells_per_turn = 1 << 16;
  std::int64_t cleaned_bytes_per_turn = 256 << 10;
  std::int64_t most_pending = 1'024;

  std::int64_t latency_us = 10;
  std::int64_t jitter_us = 5;
  std::int64_t completion_us = 10;
  std::int64_t piece_bytes = 64;        ///< in which a write arrives
  std::int64_t delivery_percent = 50;   ///< how often the network goes before executors
  std::int64_t immediates = 0;          ///< 1: messages between hosts arrive by immediate values, else by polling
  std::int64_t any_order = 0;           ///< 1: bytes are placed in any order; see also places_late_bytes
  std::int64_t free_signals = 0;        ///< 1: a signaled write costs nothing
  std::int64_t late_reads = 0;          ///< 1: a completed write's memory is still read, as over iWARP
  std::int64_t relaxed_nodes = 0;       ///< the first ones, that have relaxed ordering
  std::int64_t late_credits = 0;        ///< 1: where a complete write may be late, older counts may come last
  std::int64_t full_queue_percent = 0;  ///< of posts that find the queue full
  std::int64_t skew_ms = 0;             ///< of clocks between hosts

  std::int64_t file_sources = 0;  ///< 1: flows are files, which the engine's source of lines reads
  std::int64_t file_sinks = 0;    ///< 1: results are files, which the engine's sink writes
  std::int64_t publishes = 0;     ///< 1: results are visible while the run goes on
  std::int64_t first_ending = 0;  ///< of the first output: see kFileEndings in line_files.h

  std::int64_t sink_busy_us = 0;   ///< that a sink takes for rows
  std::int64_t busy_executor = 0;  ///< whose sinks do; of no executor's number: all executors' sinks

  std::int64_t fault = 0;
  std::int64_t step = 0;        ///< at which it strikes
  std::int64_t occurrence = 1;  ///< the how many-th time the victim is at the step
  std::int64_t victim = 0;
  std::int64_t other_victim = 0;

  // Of another fault in the same run.
  std::int64_t second_fault = 0;
  std::int64_t second_step = 0;
  std::int64_t second_occurrence = 1;
  std::int64_t second_victim = 0;
  std::int64_t second_other_victim = 0;

  std::array<Fault, kMostFaults> faults() const;
  bool has_fault(FaultKind kind) const;
  /// How long the rows of a call keep an executor's sink busy.
  std::int64_t sink_busy_ns(std::int64_t executor) const {
    return executor == busy_executor || busy_executor >= executor_count() ? sink_busy_us * 1'000 : 0;
  }
  std::int64_t idle_timeout_ns() const { return idle_timeout_ms * 1'000'000; }
  /// Whether a complete write may not be in the memory of a node yet, as over iWARP and with relaxed ordering.
  bool memory_may_be_late(std::int64_t node) const { return late_reads == 1 || node < relaxed_nodes; }
  /// Whether bytes of a slot's last use come after its next message was received, in memory of that kind.
  bool places_late_bytes() const { return any_order == 1 && memory_may_be_late(0); }
  std::int64_t executor_count() const { return nodes * executors; }
  /// The options of all nodes: their number, the roles of their executors, and how messages arrive.
  engine::ClusterOptions cluster() const;
  engine::Roles roles() const;
  state::StateThresholds thresholds() const;

  /// "nodes=2,records=50". InvalidArgument names what is no knob or no number.
  absl::Status Set(std::string_view settings);
  /// Makes what goes together fit: the faults, and what oracles can tell of idle flows.
  void Fit();
  /// Has watermarks stay behind by the disorder, and no flow fall silent.
  void LetNoneBeLate();
  /// All that differs from `other`, in the same form.
  std::string DifferenceTo(const Scenario& other) const;
};

/// A number of a scenario by its name.
struct Knob {
  std::string_view name;
  std::int64_t Scenario::* value;
  std::int64_t simplest;  ///< what shrinking tries
  std::int64_t least;
  std::int64_t most;
};
std::vector<Knob> Knobs();

/// The scenario of a seed.
Scenario DrawScenario(std::uint64_t seed, std::span<const CatalogueEntry> catalogue);

/// The input that a scenario's flows have. A silent flow goes on with records of a time that no other flow reaches, so
/// that none of them is late. A silent source goes on with the next records, some of which may be late; it falls silent
/// only if it `may_be_silent`.
Input MakeInput(const Scenario& scenario, std::int64_t sources, bool may_be_silent);

/// Virtual times that every simulated run uses; the verdict and the network count with them.
inline constexpr std::int64_t kPeerTimeoutNs = 500'000'000;
/// That a count of credits takes to its place at most, where it may be late: longer than until its first repeat.
inline constexpr std::int64_t kLatestCountNs = 20'000'000;
/// After which a reliable connection gives up an unanswered write.
inline constexpr std::int64_t kRetriesNs = 300'000'000;

}  // namespace glaive::sim

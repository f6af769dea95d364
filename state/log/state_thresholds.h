// StateThresholds: the sizes at which tables and the loops over them change how they work.
//
// The defaults fit usual caches and inputs of many records. A test or a simulation lowers them so that small inputs
// reach the same code. A threshold never changes a result. All executors of a run have the same thresholds.
//
//   StateMemory memory(1 << 30, run_token, {.updates_between_reviews = 16, .split_bytes = 256});
#pragma once

#include <cstdint>

namespace glaive::state {

struct StateThresholds {
  // ---- in bytes: where a table outgrows a cache ----

  /// Cells up to this size are updated in the loop of the pipeline; a record of larger ones is folded after others.
  std::uint64_t cached_cells_bytes = std::uint64_t{2} << 20;
  /// Cells beyond this size are prefetched for a run of updates.
  std::uint64_t first_level_cells_bytes = std::uint64_t{128} << 10;
  /// A log and its index beyond this size are prefetched for a run of updates.
  std::uint64_t cached_log_bytes = std::uint64_t{1} << 20;
  /// The tuples of a join beyond this size, half of a usual second-level cache, are split.
  std::uint64_t split_bytes = std::uint64_t{1} << 20;

  // ---- how tables get their memory ----

  /// What small blocks are cut from: a huge page. A larger block has a region of its own, whose pages are taken from
  /// the system in steps. A multiple of 4 KiB.
  std::uint64_t region_bytes = std::uint64_t{2} << 20;
  /// Bytes of a larger index that get pages with an update: a few huge pages a turn. It then has them after less than a
  /// twentieth as many updates as the smaller one was planned for, whose overflow buckets suffice meanwhile.
  std::uint64_t touched_bytes_per_update = 2048;
  /// A slice that is forecast to have so many keys gets its table, and the table its pages, before it gets entries. The
  /// index of such a table exceeds a huge page.
  std::uint64_t many_keys = std::uint64_t{1} << 18;

  // ---- when a log moves to cells, and cells are given up ----

  /// Updates of a slice before the first review of its log, and between two reviews.
  std::uint64_t updates_between_reviews = 4096;
  /// Entries that move with a run of updates, at least.
  std::uint64_t fewest_moved = 128;
  /// Values of a log that are tried in cells before it moves.
  std::uint64_t values_tried = 1024;
  /// Records that cells may refuse without being given up.
  std::uint64_t refused_records_allowed = 1000;

  // ---- a turn's share ----

  /// Entries of tables and tuples of joins that a fiber visits in a turn.
  std::uint64_t entries_per_turn = 4096;
  /// How often a fiber hands updates to another slice than before, in a turn. Each of them may be new, and then takes
  /// its first blocks of memory.
  std::uint64_t slices_per_turn = 64;
  /// Cells that a fiber scans in a turn, in whole chunks of some hundred, and buckets of a join's index that it clears.
  std::uint64_t cells_per_turn = std::uint64_t{1} << 16;
  /// Bytes of dropped slices that a fiber zeroes in a turn, and of large new tables that it takes pages for.
  std::uint64_t cleaned_bytes_per_turn = std::uint64_t{256} << 10;

  // ---- on the way to the store ----

  /// Records that are pending at most before the store takes them; fewer where they are large.
  std::uint64_t most_pending = 1024;

  // ---- how a join is split ----

  /// Bits of the hash that choose a log: there are 2 to this power.
  std::uint32_t split_bits = 8;

  /// Logs into which the tuples of a join are split.
  std::uint64_t split_logs() const { return std::uint64_t{1} << split_bits; }
};

}  // namespace glaive::state

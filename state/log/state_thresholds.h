// StateThresholds: the sizes at which tables and the loops over them change how they work.
//
// The defaults fit usual caches and inputs of many records. A test or a simulation lowers them so that small inputs
// reach the same code. A threshold never changes a result. All executors of a run have the same.
//
//   StateMemory memory(1 << 30, run_token, {.updates_between_looks = 16, .split_bytes = 256});
#pragma once

#include <cstdint>

namespace glaive::state {

struct StateThresholds {
  // ---- in bytes: where a table outgrows a cache ----

  /// Slots up to this size are updated in the loop of the pipeline; a record of larger ones is folded after others.
  std::uint64_t cached_slots_bytes = std::uint64_t{2} << 20;
  /// Slots beyond this size are prefetched for a run of updates.
  std::uint64_t first_level_slots_bytes = std::uint64_t{128} << 10;
  /// A log and its index beyond this size are prefetched for a run of updates.
  std::uint64_t cached_log_bytes = std::uint64_t{1} << 20;
  /// The tuples of a join beyond this size, half of a usual second-level cache, are split.
  std::uint64_t split_bytes = std::uint64_t{1} << 20;

  // ---- when a log moves to slots, and slots are given up ----

  /// Updates of a slice after which its log is considered, at first and between two looks.
  std::uint64_t updates_between_looks = 4096;
  /// Entries that move with a run of updates, at least.
  std::uint64_t fewest_moved = 128;
  /// Values of a log that are tried in slots before it moves.
  std::uint64_t values_tried = 1024;
  /// Records that slots may refuse without being given up.
  std::uint64_t refused_records_allowed = 1000;

  // ---- a turn's share ----

  /// Entries of tables and tuples of joins that a fiber looks at in a turn.
  std::uint64_t entries_per_turn = 4096;
  /// Slots that a fiber scans in a turn, in whole chunks of some hundred, and buckets of a join's index that it clears.
  std::uint64_t slots_per_turn = std::uint64_t{1} << 16;
  /// Bytes of dropped slices that a fiber zeroes in a turn.
  std::uint64_t cleaned_bytes_per_turn = std::uint64_t{256} << 10;

  // ---- on the way to the store ----

  /// Records that are staged at most before the store takes them; fewer where they are large.
  std::uint64_t most_staged = 1024;

  // ---- how a join is split ----

  /// Bits of the hash that choose a log: there are 2 to this power.
  std::uint32_t split_bits = 8;

  /// Logs into which the tuples of a join are split.
  std::uint64_t split_logs() const { return std::uint64_t{1} << split_bits; }
};

}  // namespace glaive::state

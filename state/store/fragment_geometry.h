// FragmentGeometry: how many segments a fragment may use, and how many the pool must have for it.
//
// Worst case of a group: every key is new; each leader's open segment is full at the wrong moment. Sizes are
// chosen so that after an epoch's end a group always fits, and so that the next epoch can fill one fragment
// while the segments of the last one are on their way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/base/ids.h"

namespace glaive::state {

struct FragmentGeometry {
  std::uint32_t remote_leaders = 0;  // executors other than this one
  std::uint32_t entries_per_segment = 0;
  std::uint32_t capacity_segments = 0;  // of one fragment
  std::uint32_t pool_segments = 0;      // what the executor's pool must have for it

  /// The geometry for `executor_count` executors, segments of `slot_bytes`, delta entries of `entry_bytes`, and
  /// fragments of about `fragment_bytes` (rounded up to what a group of updates may need). InvalidArgument
  /// when not even one entry fits a slot beside the marker, or when the addresses do not fit 32 bits.
  static absl::StatusOr<FragmentGeometry> Plan(std::uint32_t executor_count, std::size_t slot_bytes,
                                               std::size_t entry_bytes, std::uint64_t fragment_bytes);

  /// The geometries of several fragments that share a pool, of entries of `entry_bytes` each. Errors as above.
  static absl::StatusOr<std::vector<FragmentGeometry>> PlanAll(std::uint32_t executor_count, std::size_t slot_bytes,
                                                               const std::vector<std::size_t>& entry_bytes,
                                                               std::uint64_t fragment_bytes);
  /// What the pool that fragments share must have. Each of them can then fill up while others' segments are on their
  /// way.
  static std::uint32_t PoolSegments(const std::vector<FragmentGeometry>& fragments);

  /// Segments that a group of `items` may need beyond those in use.
  std::uint32_t WorstCaseSegments(std::size_t items) const {
    const auto count = static_cast<std::uint32_t>(items);
    return std::min(count, remote_leaders) + count / entries_per_segment;
  }

  /// The largest pool whose entries all have an address below 2^32 - 1.
  std::uint32_t MaxPoolSegments() const { return 0xFFFFFFFFU >> offset_bits(); }

  /// An entry's address is its segment's number, shifted by this, and its place in the segment.
  int offset_bits() const { return static_cast<int>(std::bit_width(entries_per_segment - 1U)); }
};

}  // namespace glaive::state

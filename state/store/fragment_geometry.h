// FragmentGeometry: the number of segments that the pool must have for a fragment, so that waiting for segments always
// ends.
//
// Worst case of some entries: each leader's open segment has no room left for its first one. Sizes are chosen so that
// with a segment open for every leader twice MostEntriesAtOnce still fit, and others are on their way meanwhile. Twice,
// since a record may be an entry itself and make its key's form give up its place (partitioned_store.h).
//
//   pool       one open segment a leader
//            + twice the entries of a group: min(entries, leaders) segments, and about 16 MiB or two entries' segments
//            + 2 * --fragment-bytes: segments that are filled, and segments on their way
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "state/epoch/delta_layout.h"

namespace glaive::state {

/// The most entries that a store takes, merges or reads out at a time.
inline constexpr std::size_t kMostEntries = 1024;
/// The most bytes of a group of entries that a store takes or reads out at a time. The group of the largest entries,
/// such as those of keys with long texts in large slots, has fewer than kMostEntries, but at least one.
inline constexpr std::size_t kMostBytesAtOnce = std::size_t{8} << 20;
/// The most entries of such a group, if each has at most `entry_bytes`.
constexpr std::size_t MostEntriesAtOnce(std::size_t entry_bytes) {
  return std::clamp<std::size_t>(kMostBytesAtOnce / entry_bytes, 1, kMostEntries);
}

/// The most segments of a pool. More would take longer to set up than any run.
inline constexpr std::uint64_t kMostSegments = std::uint64_t{1} << 24;

struct FragmentGeometry {
  std::uint32_t remote_leaders = 0;        // executors other than this one
  std::size_t runs_bytes_per_segment = 0;  // room for runs of entries
  std::uint32_t pool_segments = 0;         // what the executor's pool must have for it

  /// The geometry for `executor_count` executors, segments of `slot_bytes`, entries of `entry_bytes` at most, and
  /// about `fragment_bytes` under way. InvalidArgument when not even one entry fits a slot beside the marker, or when
  /// there would be too many segments.
  static absl::StatusOr<FragmentGeometry> Plan(std::uint32_t executor_count, std::size_t slot_bytes,
                                               std::size_t entry_bytes, std::uint64_t fragment_bytes);

  /// The geometries of several fragments that share a pool, of entries of `entry_bytes` each. Errors as above.
  static absl::StatusOr<std::vector<FragmentGeometry>> PlanAll(std::uint32_t executor_count, std::size_t slot_bytes,
                                                               const std::vector<std::size_t>& entry_bytes,
                                                               std::uint64_t fragment_bytes);
  /// What the pool that fragments share must have. Each of them can then fill up while others' segments are on their
  /// way.
  static std::uint64_t PoolSegments(const std::vector<FragmentGeometry>& fragments);

  /// Segments that `items` entries of `entry_bytes` may need beyond those that are open.
  std::uint32_t WorstCaseSegments(std::size_t items, std::size_t entry_bytes) const {
    const std::size_t per_segment = (runs_bytes_per_segment - sizeof(DeltaRunHeader)) / entry_bytes;
    return static_cast<std::uint32_t>(std::min<std::size_t>(items, remote_leaders) + items / per_segment);
  }
};

}  // namespace glaive::state

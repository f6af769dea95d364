#include "state/store/fragment_geometry.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"
#include "rdma/base/check.h"
#include "rdma/channel/slot_footer.h"
#include "state/epoch/delta_layout.h"
#include "state/store/slice_table.h"

namespace glaive::state {

absl::StatusOr<FragmentGeometry> FragmentGeometry::Plan(std::uint32_t executor_count, std::size_t slot_bytes,
                                                        std::size_t entry_bytes, std::uint64_t fragment_bytes) {
  GLAIVE_CHECK(executor_count > 0 && entry_bytes > 0, "a fragment of ", executor_count, " executors with entries of ",
               entry_bytes, " bytes");
  FragmentGeometry geometry;
  geometry.remote_leaders = executor_count - 1;
  geometry.entries_per_segment =
      EntriesPerSegment(slot_bytes - std::min<std::size_t>(slot_bytes, rdma::kFooterBytes), entry_bytes);
  if (geometry.entries_per_segment == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a slot of ", FormatBytes(slot_bytes), " holds no state entry of ", entry_bytes,
                     " bytes beside its footer and the epoch's marker: raise --slot-bytes"));
  }
  if (geometry.remote_leaders == 0) {
    geometry.pool_segments = 1;  // nothing is sent; a pool has at least one segment
    return geometry;
  }
  const std::uint32_t group = geometry.WorstCaseSegments(kGroupSize);
  const std::uint64_t wanted = std::max<std::uint64_t>(fragment_bytes / slot_bytes, 1);
  const std::uint64_t capacity = std::max<std::uint64_t>(wanted, geometry.remote_leaders + std::uint64_t{group});
  const std::uint64_t pool = 2 * capacity + group + geometry.remote_leaders;
  if (pool > geometry.MaxPoolSegments()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a fragment of ", FormatBytes(fragment_bytes), " over ", executor_count,
                     " executors has too many entries to address: lower --fragment-bytes"));
  }
  geometry.capacity_segments = static_cast<std::uint32_t>(capacity);
  geometry.pool_segments = static_cast<std::uint32_t>(pool);
  return geometry;
}

absl::StatusOr<std::vector<FragmentGeometry>> FragmentGeometry::PlanAll(std::uint32_t executor_count,
                                                                        std::size_t slot_bytes,
                                                                        const std::vector<std::size_t>& entry_bytes,
                                                                        std::uint64_t fragment_bytes) {
  std::vector<FragmentGeometry> fragments;
  for (const std::size_t bytes : entry_bytes) {
    const absl::StatusOr<FragmentGeometry> fragment = Plan(executor_count, slot_bytes, bytes, fragment_bytes);
    if (!fragment.ok()) {
      return fragment.status();
    }
    fragments.push_back(*fragment);
  }
  for (const FragmentGeometry& fragment : fragments) {
    if (PoolSegments(fragments) > fragment.MaxPoolSegments()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the ", fragments.size(), " inputs of this query over ", executor_count,
                       " executors have too many entries to address: lower --fragment-bytes"));
    }
  }
  return fragments;
}

std::uint32_t FragmentGeometry::PoolSegments(const std::vector<FragmentGeometry>& fragments) {
  std::uint32_t segments = 0;
  for (const FragmentGeometry& fragment : fragments) {
    segments += fragment.pool_segments;
  }
  return segments;
}

}  // namespace glaive::state

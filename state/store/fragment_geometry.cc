#include "state/store/fragment_geometry.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"
#include "rdma/base/check.h"
#include "rdma/channel/slot_footer.h"

namespace glaive::state {
namespace {

absl::Status TooManySegments(std::uint64_t fragment_bytes, std::uint32_t executor_count) {
  return absl::InvalidArgumentError(absl::StrCat("a fragment of ", FormatBytes(fragment_bytes), " over ",
                                                 executor_count, " executors has more than ", kMostSegments,
                                                 " segments: lower --fragment-bytes"));
}

}  // namespace

absl::StatusOr<FragmentGeometry> FragmentGeometry::Plan(std::uint32_t executor_count, std::size_t slot_bytes,
                                                        std::size_t entry_bytes, std::uint64_t fragment_bytes) {
  GLAIVE_CHECK(executor_count > 0 && entry_bytes > 0, "a fragment of ", executor_count, " executors with entries of ",
               entry_bytes, " bytes");
  FragmentGeometry geometry;
  geometry.remote_leaders = executor_count - 1;
  geometry.runs_bytes_per_segment = RunsCapacity(slot_bytes - std::min<std::size_t>(slot_bytes, rdma::kFooterBytes));
  if (geometry.runs_bytes_per_segment < RunBytes(1, entry_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a slot of ", FormatBytes(slot_bytes), " holds no state entry of ", entry_bytes,
                     " bytes beside its footer and the epoch's marker: raise --slot-bytes"));
  }
  if (geometry.remote_leaders == 0) {
    geometry.pool_segments = 1;  // nothing is sent; a pool has at least one segment
    return geometry;
  }
  const std::uint64_t under_way = std::max<std::uint64_t>(2 * (fragment_bytes / slot_bytes), 2);
  const std::uint64_t pool =
      geometry.remote_leaders + geometry.WorstCaseSegments(2 * MostEntriesAtOnce(entry_bytes), entry_bytes) + under_way;
  if (pool > kMostSegments) {
    return TooManySegments(fragment_bytes, executor_count);
  }
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
  if (PoolSegments(fragments) > kMostSegments) {
    return TooManySegments(fragment_bytes, executor_count);
  }
  return fragments;
}

std::uint64_t FragmentGeometry::PoolSegments(const std::vector<FragmentGeometry>& fragments) {
  std::uint64_t segments = 0;
  for (const FragmentGeometry& fragment : fragments) {
    segments += fragment.pool_segments;
  }
  return std::max<std::uint64_t>(segments, 1);
}

}  // namespace glaive::state

#include "rdma/memory/segment_pool.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"
#include "rdma/base/ids.h"

namespace glaive::rdma {

absl::Status CheckSlotBytes(std::uint64_t slot_bytes) {
  if (slot_bytes >= SegmentPool::kMinSlotBytes && slot_bytes <= SegmentPool::kMaxSlotBytes &&
      slot_bytes % SegmentPool::kSlotAlignment == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("--slot-bytes=", slot_bytes, ": must be a multiple of ",
                                                 SegmentPool::kSlotAlignment, " from ", SegmentPool::kMinSlotBytes,
                                                 " to ", SegmentPool::kMaxSlotBytes));
}

absl::StatusOr<SegmentPool> SegmentPool::Create(std::uint32_t slot_bytes, std::uint32_t count, MapMemory map) {
  if (absl::Status status = CheckSlotBytes(slot_bytes); !status.ok()) return status;
  if (count == 0) return absl::InvalidArgumentError("a segment pool needs at least one segment");
  absl::StatusOr<PageRegion> region = map(std::size_t{slot_bytes} * count);
  if (!region.ok()) return region.status();
  return SegmentPool(*std::move(region), slot_bytes, count);
}

SegmentPool::SegmentPool(PageRegion region, std::uint32_t slot_bytes, std::uint32_t count)
    : region_(std::move(region)), slot_bytes_(slot_bytes), acquired_(count, 0) {
  free_.reserve(count);
  for (std::uint32_t id = count; id > 0; --id) free_.push_back(SegmentId{id - 1});
}

std::optional<SegmentId> SegmentPool::TryAcquire() {
  if (free_.empty()) return std::nullopt;
  const SegmentId id = free_.back();
  free_.pop_back();
  acquired_[Value(id)] = 1;
  return id;
}

void SegmentPool::Release(SegmentId id) {
  GLAIVE_CHECK(Value(id) < size(), "segment ", Value(id), " of a pool of ", size());
  GLAIVE_CHECK(acquired_[Value(id)] == 1, "segment ", Value(id), " was released while it was free");
  acquired_[Value(id)] = 0;
  free_.push_back(id);
}

}  // namespace glaive::rdma

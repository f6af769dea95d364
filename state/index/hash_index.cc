#include "state/index/hash_index.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"

namespace glaive::state {

absl::StatusOr<HashIndex> HashIndex::Create(StateMemory& memory, std::uint64_t expected_entries) {
  absl::StatusOr<PlacedTable> table = PlacedTable::Create(memory, expected_entries);
  if (!table.ok()) {
    return table.status();
  }
  HashIndex index;
  index.tables_[kNew] = *table;
  return index;
}

void HashIndex::Release(StateMemory& memory) {
  tables_[kNew].Release(memory);
  tables_[kOld].Release(memory);
  *this = HashIndex();
}

absl::Status HashIndex::StartGrowth(StateMemory& memory, std::uint64_t factor) {
  GLAIVE_CHECK(!growing(), "the index of ", size_, " entries is growing already");
  // The entries may have outrun the plan by a group, which for a small table is a lot.
  const std::uint64_t entries = std::max<std::uint64_t>(tables_[kNew].planned_entries() * factor, size_);
  absl::StatusOr<PlacedTable> larger = PlacedTable::Create(memory, entries);
  if (!larger.ok()) {
    return larger.status();
  }
  tables_[kOld] = std::exchange(tables_[kNew], *larger);
  moved_buckets_ = 0;
  ++growths_;
  return absl::OkStatus();
}

absl::Status HashIndex::OverflowError() const {
  return absl::ResourceExhaustedError(absl::StrCat(
      "the hash index of ", size_, " entries has no overflow bucket left in ", tables_[kNew].bucket_count(),
      " buckets: too many keys share a hash; start the run again, which draws another"));
}

}  // namespace glaive::state

#include "state/index/hash_index.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"

namespace glaive::state {

absl::StatusOr<HashIndex> HashIndex::Create(StateMemory& memory, std::uint64_t expected_entries) {
  absl::StatusOr<BucketTable> table = BucketTable::Create(memory, expected_entries);
  if (!table.ok()) {
    return table.status();
  }
  HashIndex index;
  index.table_ = *table;
  return index;
}

void HashIndex::Release(StateMemory& memory) {
  table_.Release(memory);
  old_.Release(memory);
  *this = HashIndex();
}

absl::Status HashIndex::StartGrowth(StateMemory& memory) {
  GLAIVE_CHECK(!growing(), "the index of ", size_, " entries is growing already");
  // The entries may have outrun the plan by a group, which for a small table is a lot.
  const std::uint64_t entries = std::max<std::uint64_t>(table_.planned_entries() * 2, size_);
  absl::StatusOr<BucketTable> larger = BucketTable::Create(memory, entries);
  if (!larger.ok()) {
    return larger.status();
  }
  old_ = std::exchange(table_, *larger);
  migrated_ = 0;
  growth_end_ = size_;
  ++growths_;
  return absl::OkStatus();
}

absl::Status HashIndex::OverflowError() const {
  return absl::ResourceExhaustedError(
      absl::StrCat("the hash index of ", size_, " entries has no overflow bucket left in ", table_.bucket_count(),
                   " buckets: too many keys share a hash; this is a defect, please report it"));
}

}  // namespace glaive::state

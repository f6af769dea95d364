#include "state/index/bucket_table.h"

#include <algorithm>
#include <cstring>

namespace glaive::state {

absl::StatusOr<BucketTable> BucketTable::Create(StateMemory& memory, std::uint64_t expected_entries) {
  const std::uint64_t wanted = (expected_entries + kPlannedLoad - 1) / kPlannedLoad;
  const std::uint64_t bucket_count = std::bit_ceil(std::max<std::uint64_t>(wanted, 1));
  // At 8 of 12 tags 6.4 % of the buckets overflow (Poisson); twice that, and a few for small tables.
  const std::uint64_t overflow_count = bucket_count / 8 + 8;
  absl::StatusOr<Block> block = memory.Acquire((bucket_count + overflow_count) * sizeof(Bucket), Contents::kZeroed);
  if (!block.ok()) {
    return block.status();
  }
  BucketTable table;
  table.block_ = *block;
  table.buckets_ = reinterpret_cast<Bucket*>(block->data);
  table.mask_ = bucket_count - 1;
  table.overflow_count_ = static_cast<std::uint32_t>(overflow_count);
  return table;
}

void BucketTable::Release(StateMemory& memory) {
  if (buckets_ != nullptr) {
    memory.Release(block_, Contents::kZeroed);
    *this = BucketTable();
  }
}

void BucketTable::Clear() {
  std::memset(static_cast<void*>(buckets_), 0, (mask_ + 1 + overflow_used_) * sizeof(Bucket));
  overflow_used_ = 0;
}

}  // namespace glaive::state

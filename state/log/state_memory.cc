#include "state/log/state_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"
#include "rdma/base/check.h"

namespace glaive::state {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kRegionBytes = std::size_t{2} << 20;  // a huge page: what small blocks are cut from

std::size_t WholeLines(std::size_t size_bytes) { return (size_bytes + kLineBytes - 1) / kLineBytes * kLineBytes; }

}  // namespace

StateMemory::StateMemory(std::uint64_t limit_bytes, std::uint64_t hash_seed)
    : limit_bytes_(limit_bytes), key_hash_(hash_seed) {}

StateMemory::FreeList& StateMemory::ListFor(std::size_t size_bytes) {
  for (FreeList& list : lists_) {
    if (list.size_bytes == size_bytes) {
      return list;
    }
  }
  lists_.push_back(FreeList{.size_bytes = size_bytes, .any = {}, .zeroed = {}});
  return lists_.back();
}

absl::StatusOr<Block> StateMemory::Acquire(std::size_t size_bytes, Contents contents) {
  size_bytes = WholeLines(size_bytes);
  FreeList& list = ListFor(size_bytes);
  std::vector<Block>& free = contents == Contents::kZeroed ? list.zeroed : list.any;
  if (!free.empty()) {
    const Block block = free.back();
    free.pop_back();
    return block;
  }
  if (contents == Contents::kZeroed) {
    if (const std::optional<Block> block = TakeDirty(size_bytes)) {
      return *block;
    }
  }
  return Carve(size_bytes);
}

std::optional<Block> StateMemory::TakeDirty(std::size_t size_bytes) {
  const auto found = std::find_if(dirty_.begin(), dirty_.end(), [&](const DirtyBlock& candidate) {
    return candidate.block.size_bytes == size_bytes;
  });
  if (found == dirty_.end()) {
    return std::nullopt;
  }
  const DirtyBlock taken = *found;
  dirty_.erase(found);
  std::memset(taken.block.data + taken.cleaned_bytes, 0, taken.block.size_bytes - taken.cleaned_bytes);
  return taken.block;
}

absl::Status StateMemory::Prefault(std::size_t size_bytes, const Watch& watch) {
  GLAIVE_CHECK(mapped_bytes_ == 0, "prefaulting comes too late: ", mapped_bytes_, " bytes are mapped already");
  if (size_bytes > limit_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat("the executor's state may take ", FormatBytes(limit_bytes_),
                                                     ", which is less than --prefault-state=", FormatBytes(size_bytes),
                                                     ": lower that, or raise --memory-limit"));
  }
  const std::size_t within_limit = std::min<std::size_t>(size_bytes, limit_bytes_ / kRegionBytes * kRegionBytes);
  if (within_limit == 0) {
    return absl::OkStatus();
  }
  const absl::StatusOr<Block> region = MapRegion(within_limit);
  if (!region.ok()) {
    return region.status();
  }
  carving_ = *region;
  return regions_.back().Prefault(watch);
}

absl::StatusOr<Block> StateMemory::Carve(std::size_t size_bytes) {
  if (size_bytes <= carving_.size_bytes) {
    const Block block{.data = carving_.data, .size_bytes = size_bytes};
    carving_.data += size_bytes;
    carving_.size_bytes -= size_bytes;
    return block;
  }
  const absl::StatusOr<Block> region = MapRegion(size_bytes);
  if (!region.ok()) {
    return region.status();
  }
  const Block rest{.data = region->data + size_bytes, .size_bytes = region->size_bytes - size_bytes};
  if (rest.size_bytes > carving_.size_bytes) {
    carving_ = rest;
  }
  return Block{.data = region->data, .size_bytes = size_bytes};
}

absl::StatusOr<Block> StateMemory::MapRegion(std::size_t size_bytes) {
  const std::size_t region_bytes = (size_bytes + kRegionBytes - 1) / kRegionBytes * kRegionBytes;
  if (mapped_bytes_ + region_bytes > limit_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the executor's state needs ", FormatBytes(region_bytes), " more, but ", FormatBytes(mapped_bytes_), " of its ",
        FormatBytes(limit_bytes_), " are in use",
        carving_.size_bytes <= kRegionBytes
            ? ""
            : absl::StrCat(" (", FormatBytes(carving_.size_bytes), " of them left of --prefault-state, too little)"),
        ": raise --memory-limit, or spread the keys over more executors"));
  }
  absl::StatusOr<rdma::PageRegion> region = rdma::PageRegion::Map(region_bytes);
  if (!region.ok()) {
    return region.status();
  }
  const Block whole{.data = region->data(), .size_bytes = region->size_bytes()};
  regions_.push_back(*std::move(region));
  mapped_bytes_ += whole.size_bytes;
  return whole;
}

void StateMemory::Release(Block block, Contents contents) {
  GLAIVE_CHECK(block.data != nullptr, "a block of ", block.size_bytes, " bytes was released without memory");
  block.size_bytes = WholeLines(block.size_bytes);  // as it was acquired
  if (contents == Contents::kZeroed) {
    dirty_.push_back(DirtyBlock{.block = block});
  } else {
    ListFor(block.size_bytes).any.push_back(block);
  }
}

bool StateMemory::CleanSome(std::size_t max_bytes) {
  while (max_bytes > 0 && !dirty_.empty()) {
    DirtyBlock& next = dirty_.back();
    const std::size_t bytes = std::min(max_bytes, next.block.size_bytes - next.cleaned_bytes);
    std::memset(next.block.data + next.cleaned_bytes, 0, bytes);
    next.cleaned_bytes += bytes;
    max_bytes -= bytes;
    if (next.cleaned_bytes == next.block.size_bytes) {
      const Block clean = next.block;
      dirty_.pop_back();
      ListFor(clean.size_bytes).zeroed.push_back(clean);
    }
  }
  return !dirty_.empty();
}

}  // namespace glaive::state

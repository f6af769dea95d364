#include "state/log/free_extents.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rdma/base/check.h"

namespace glaive::state {

void FreeExtents::Add(std::byte* data, Extent extent) {
  extents_.emplace(data, extent);
  SizesOf(extent.holds).emplace(extent.size_bytes, data);
  bytes_ += extent.size_bytes;
}

FreeExtents::Extents::iterator FreeExtents::Remove(Extents::iterator extent) {
  SizesOf(extent->second.holds).erase({extent->second.size_bytes, extent->first});
  bytes_ -= extent->second.size_bytes;
  return extents_.erase(extent);
}

void FreeExtents::Put(Block block, Holds holds) {
  auto next = extents_.lower_bound(block.data);
  const bool is_in_use =
      (next == extents_.end() || block.data + block.size_bytes <= next->first) &&
      (next == extents_.begin() || std::prev(next)->first + std::prev(next)->second.size_bytes <= block.data);
  GLAIVE_CHECK(is_in_use, "a block of ", block.size_bytes, " bytes was released twice");
  if (next != extents_.end() && next->first == block.data + block.size_bytes && next->second.holds == holds) {
    block.size_bytes += next->second.size_bytes;
    next = Remove(next);
  }
  if (next != extents_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second.size_bytes == block.data && previous->second.holds == holds) {
      block = {.data = previous->first, .size_bytes = previous->second.size_bytes + block.size_bytes};
      Remove(previous);
    }
  }
  Add(block.data, {.size_bytes = block.size_bytes, .holds = holds});
}

void FreeExtents::Cut(Extents::iterator first, const Block& block) {
  std::byte* const end = block.data + block.size_bytes;
  for (auto extent = first; extent != extents_.end() && extent->first < end;) {
    const auto [data, piece] = *extent;
    extent = Remove(extent);
    if (data < block.data) {
      Add(data, {.size_bytes = static_cast<std::size_t>(block.data - data), .holds = piece.holds});
    }
    if (data + piece.size_bytes > end) {
      Add(end, {.size_bytes = static_cast<std::size_t>(data + piece.size_bytes - end), .holds = piece.holds});
    }
  }
}

std::optional<Block> FreeExtents::Take(std::size_t size_bytes, Holds holds) {
  const auto found = SizesOf(holds).lower_bound({size_bytes, nullptr});
  if (found == SizesOf(holds).end()) {
    return std::nullopt;
  }
  const Block block{.data = found->second, .size_bytes = size_bytes};
  Cut(extents_.find(block.data), block);
  return block;
}

std::optional<Block> FreeExtents::TakeAcross(std::size_t size_bytes) {
  auto first = extents_.end();  // of a run of neighbours
  std::byte* end = nullptr;
  for (auto extent = extents_.begin(); extent != extents_.end(); ++extent) {
    if (extent->first != end) {
      first = extent;
    }
    end = extent->first + extent->second.size_bytes;
    if (static_cast<std::size_t>(end - first->first) >= size_bytes) {
      const Block block{.data = first->first, .size_bytes = size_bytes};
      Cut(first, block);
      return block;
    }
  }
  return std::nullopt;
}

std::optional<Block> FreeExtents::TakeSome(std::size_t max_bytes, Holds holds) {
  if (SizesOf(holds).empty()) {
    return std::nullopt;
  }
  const auto [size_bytes, data] = *SizesOf(holds).rbegin();
  const Block block{.data = data, .size_bytes = std::min(size_bytes, max_bytes)};
  Cut(extents_.find(data), block);
  return block;
}

bool FreeExtents::TakeWhole(const Block& block) {
  auto first = extents_.upper_bound(block.data);
  if (first == extents_.begin()) {
    return false;
  }
  --first;
  std::byte* end = block.data;
  for (auto extent = first; extent != extents_.end() && extent->first <= end && end < block.data + block.size_bytes;
       ++extent) {
    end = std::max(end, extent->first + extent->second.size_bytes);
  }
  if (end < block.data + block.size_bytes) {
    return false;
  }
  Cut(first, block);
  return true;
}

}  // namespace glaive::state

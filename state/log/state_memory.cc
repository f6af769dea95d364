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
constexpr std::size_t kPageBytes = 4096;  // the smallest that any system has

std::size_t WholeLines(std::size_t size_bytes) { return (size_bytes + kLineBytes - 1) / kLineBytes * kLineBytes; }

}  // namespace

StateMemory::StateMemory(std::uint64_t limit_bytes, std::uint64_t hash_seed, const StateThresholds& thresholds)
    : limit_bytes_(limit_bytes), key_hash_(hash_seed), thresholds_(thresholds) {
  GLAIVE_CHECK(thresholds_.region_bytes > 0 && thresholds_.region_bytes % kPageBytes == 0, "regions of ",
               thresholds_.region_bytes, " bytes are no whole pages");
}

std::size_t StateMemory::WholeRegions(std::size_t size_bytes) const {
  return (size_bytes + thresholds_.region_bytes - 1) / thresholds_.region_bytes * thresholds_.region_bytes;
}

absl::StatusOr<Block> StateMemory::Acquire(std::size_t size_bytes, Contents contents) {
  size_bytes = WholeLines(size_bytes);
  const bool zeroed = contents == Contents::kZeroed;
  std::optional<Block> block = zeroed ? TakeZeroed(size_bytes) : TakeAny(size_bytes);
  if (!block) {
    if (absl::Status status = MapRegion(size_bytes); !status.ok()) {
      return status;
    }
    block = free_.Take(size_bytes, Holds::kFresh);
    GLAIVE_CHECK(block.has_value(), "a new region has no ", size_bytes, " bytes");
    if (zeroed) {
      NoteUntouched(*block);
    }
  }
  most_used_bytes_ = std::max(most_used_bytes_, used_bytes());
  return *block;
}

std::optional<Block> StateMemory::TakeAny(std::size_t size_bytes) {
  // Memory that was cleaned, or waits for that, is reserved for indexes as long as there is other memory.
  for (const Holds holds : {Holds::kAnything, Holds::kFresh, Holds::kDirt, Holds::kZeros}) {
    if (const std::optional<Block> block = free_.Take(size_bytes, holds)) {
      return block;
    }
  }
  return free_.TakeAcross(size_bytes);
}

std::optional<Block> StateMemory::TakeZeroed(std::size_t size_bytes) {
  const auto zeroed = [](std::optional<Block> block) {
    if (block) {
      std::memset(block->data, 0, block->size_bytes);
    }
    return block;
  };
  std::optional<Block> block = free_.Take(size_bytes, Holds::kZeros);
  if (size_bytes > thresholds_.region_bytes) {
    // To zero so much at once would hold up the executor. The system zeroes new memory page by page.
    if (!block) {
      block = free_.Take(size_bytes, Holds::kFresh);
      if (block) {
        NoteUntouched(*block);
      }
    }
    if (block || mapped_bytes_ + WholeRegions(size_bytes) <= limit_bytes_) {
      return block;
    }
  }
  block = block ? block : zeroed(free_.Take(size_bytes, Holds::kDirt));
  block = block ? block : free_.Take(size_bytes, Holds::kFresh);
  block = block ? block : zeroed(free_.Take(size_bytes, Holds::kAnything));
  return block ? block : zeroed(free_.TakeAcross(size_bytes));
}

absl::Status StateMemory::Prefault(std::size_t size_bytes, const Watch& watch) {
  GLAIVE_CHECK(mapped_bytes_ == 0, "prefaulting comes too late: ", mapped_bytes_, " bytes are mapped already");
  if (size_bytes > limit_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat("the executor's state may take ", FormatBytes(limit_bytes_),
                                                     ", which is less than --prefault-state=", FormatBytes(size_bytes),
                                                     ": lower that, or raise --memory-limit"));
  }
  const std::size_t within_limit =
      std::min<std::size_t>(size_bytes, limit_bytes_ / thresholds_.region_bytes * thresholds_.region_bytes);
  if (within_limit == 0) {
    return absl::OkStatus();
  }
  if (absl::Status status = MapRegion(within_limit); !status.ok()) {
    return status;
  }
  prefaulted_ = regions_.back().bytes();
  return regions_.back().Prefault(watch);
}

void StateMemory::NoteUntouched(const Block& block) {
  const bool is_prefaulted = block.data >= prefaulted_.data() && block.data < prefaulted_.data() + prefaulted_.size();
  if (block.size_bytes > thresholds_.region_bytes && !is_prefaulted) {
    untouched_.push_back(block);
  }
}

bool StateMemory::TouchSome(std::size_t max_bytes) {
  while (!untouched_.empty() && max_bytes > 0) {
    Block& block = untouched_.back();
    const std::size_t bytes = std::min(max_bytes, block.size_bytes);
    for (std::size_t offset = 0; offset < bytes; offset += kPageBytes) {
      volatile std::byte* const first = block.data + offset;
      *first = *first;  // a write gives the page its memory
    }
    block = {.data = block.data + bytes, .size_bytes = block.size_bytes - bytes};
    max_bytes -= bytes;
    touched_bytes_ += bytes;
    if (block.size_bytes == 0) {
      untouched_.pop_back();
    }
  }
  return has_untouched();
}

absl::Status StateMemory::MapRegion(std::size_t size_bytes) {
  const std::size_t region_bytes = WholeRegions(size_bytes);
  UnmapFor(region_bytes);
  if (mapped_bytes_ + region_bytes > limit_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the executor's state needs ", FormatBytes(region_bytes), " more, but ", FormatBytes(used_bytes()), " of its ",
        FormatBytes(limit_bytes_), " are in use",
        free_.bytes() == 0 ? "" : absl::StrCat(" and ", FormatBytes(free_.bytes()), " are free in pieces too small"),
        ": raise --memory-limit, or spread the keys over more executors"));
  }
  absl::StatusOr<rdma::PageRegion> region = rdma::PageRegion::Map(region_bytes);
  if (!region.ok()) {
    return region.status();
  }
  mapped_bytes_ += region->size_bytes();
  free_.Put({.data = region->data(), .size_bytes = region->size_bytes()}, Holds::kFresh);
  regions_.push_back(*std::move(region));
  return absl::OkStatus();
}

void StateMemory::UnmapFor(std::size_t region_bytes) {
  if (region_bytes > limit_bytes_) {
    return;
  }
  for (std::size_t i = 0; i < regions_.size() && mapped_bytes_ + region_bytes > limit_bytes_;) {
    const Block whole{.data = regions_[i].data(), .size_bytes = regions_[i].size_bytes()};
    if (free_.TakeWhole(whole)) {
      mapped_bytes_ -= whole.size_bytes;
      if (whole.data == prefaulted_.data()) prefaulted_ = {};  // another region may come to lie there
      regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void StateMemory::Release(Block block, Contents contents) {
  GLAIVE_CHECK(block.data != nullptr, "a block of ", block.size_bytes, " bytes was released without memory");
  block.size_bytes = WholeLines(block.size_bytes);  // as it was acquired
  if (block.size_bytes > thresholds_.region_bytes) {
    std::erase_if(untouched_, [&block](const Block& rest) {
      return rest.data >= block.data && rest.data < block.data + block.size_bytes;
    });
  }
  free_.Put(block, contents == Contents::kZeroed ? Holds::kDirt : Holds::kAnything);
}

bool StateMemory::CleanSome(std::size_t max_bytes) {
  max_bytes = max_bytes / kLineBytes * kLineBytes;
  while (max_bytes > 0) {
    const std::optional<Block> dirty = free_.TakeSome(max_bytes, Holds::kDirt);
    if (!dirty) {
      return false;
    }
    std::memset(dirty->data, 0, dirty->size_bytes);
    free_.Put(*dirty, Holds::kZeros);
    max_bytes -= dirty->size_bytes;
  }
  return free_.has(Holds::kDirt);
}

}  // namespace glaive::state

// StateMemory: what the tables of one executor's state share: the memory budget, the free lists of blocks that windows
// return, and the hash of keys.
//
// Owned by one executor and used by its thread alone. Blocks are carved from page regions and never given
// back to the system before the end: the windows of a steady stream live on each other's blocks.
//
//   1. mapped_bytes() <= limit_bytes(): what goes past the budget is an error that names it (invariant I6).
//   2. A block acquired as kZeroed is all zeros. Index blocks come back dirty and are cleaned in steps
//      (CleanSome), so that dropping a window of many keys does not stall the executor.
//
// Costs: a recycled block costs a list operation; a fresh one a share of an mmap of 2 MiB and its page faults, unless
// Prefault has paid them before.
//
//   StateMemory memory(1 << 30, run_token);
//   absl::StatusOr<Block> block = memory.Acquire(256 << 10, Contents::kAny);
//   memory.Release(*block, Contents::kAny);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/watch.h"
#include "rdma/memory/page_region.h"
#include "state/index/key_hash.h"

namespace glaive::state {

/// A piece of memory on a 64-byte boundary.
struct Block {
  std::byte* data = nullptr;
  std::size_t size_bytes = 0;
};

/// What an acquired block holds, and with it which free list it belongs to.
enum class Contents : std::uint8_t {
  kAny,     // whatever the last user left
  kZeroed,  // zeros
};

class StateMemory {
 public:
  /// At most `limit_bytes` will ever be mapped. `hash_seed` is the run's: the tables in this memory place their keys by
  /// it.
  explicit StateMemory(std::uint64_t limit_bytes, std::uint64_t hash_seed = 0);

  StateMemory(const StateMemory&) = delete;
  StateMemory& operator=(const StateMemory&) = delete;

  /// Takes `size_bytes` from the system ahead of time, page faults included; blocks of all sizes are cut from them, in
  /// order, until one does not fit. Call it before the first Acquire. ResourceExhausted when the budget or the system
  /// has less; `watch` may end it.
  absl::Status Prefault(std::size_t size_bytes, const Watch& watch);

  /// A block of `size_bytes`, rounded up to 64. ResourceExhausted when the budget or the system has no more.
  absl::StatusOr<Block> Acquire(std::size_t size_bytes, Contents contents);

  /// Takes a block back, with whatever its user left in it: of the size that was asked for, or of the one it got.
  void Release(Block block, Contents contents);

  /// Zeroes up to `max_bytes` of what was released to the zeroed list; false when nothing is left to clean.
  bool CleanSome(std::size_t max_bytes);

  std::uint64_t limit_bytes() const { return limit_bytes_; }
  /// The hash of the keys in this memory's tables, the same on all executors of a run.
  const KeyHash& key_hash() const { return key_hash_; }
  /// Bytes taken from the system so far; their peak, too, since nothing is given back.
  std::uint64_t mapped_bytes() const { return mapped_bytes_; }
  /// Of those, all but what is left to cut blocks from: what blocks have taken, with pieces that were too small.
  std::uint64_t used_bytes() const { return mapped_bytes_ - carving_.size_bytes; }
  /// What the system gave, and on which pages.
  std::span<const rdma::PageRegion> regions() const { return regions_; }

 private:
  struct DirtyBlock {
    Block block;
    std::size_t cleaned_bytes = 0;
  };
  struct FreeList {
    std::size_t size_bytes = 0;
    std::vector<Block> any;
    std::vector<Block> zeroed;
  };

  FreeList& ListFor(std::size_t size_bytes);
  std::optional<Block> TakeDirty(std::size_t size_bytes);
  absl::StatusOr<Block> Carve(std::size_t size_bytes);
  absl::StatusOr<Block> MapRegion(std::size_t size_bytes);

  const std::uint64_t limit_bytes_;
  const KeyHash key_hash_;
  std::uint64_t mapped_bytes_ = 0;
  std::vector<rdma::PageRegion> regions_;
  Block carving_;                // what is left of the region that blocks are cut from
  std::vector<FreeList> lists_;  // one a size; there are few sizes, and they are searched in order
  std::vector<DirtyBlock> dirty_;
};

}  // namespace glaive::state

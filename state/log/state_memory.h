// StateMemory: the objects that the tables of one executor's state share: the memory budget, the blocks that windows
// and stages return, the hash of keys, and the thresholds of the tables.
//
// Owned by one executor and used by its thread alone. Blocks are cut from page regions. A block that comes back is
// merged with its neighbours, so that blocks of any size can be cut from it. So the windows of a steady stream use each
// other's blocks, and stages that are large in turn use the same memory. Regions stay mapped until the end, but where
// the budget is used up, regions that are wholly free make room for a larger one.
//
//   1. mapped_bytes() <= limit_bytes(): a request past the budget is an error that names the budget (invariant I6).
//   2. A block acquired as kZeroed is all zeros. Index blocks come back dirty and are cleaned in steps
//      (CleanSome), so that dropping a window of many keys does not stall the executor.
//   3. A large block acquired as kZeroed may have no pages yet. It gets them in steps (TouchSome), so that the first
//      uses of a large table, which lie all over it, do not stall the executor with a page fault each.
//
// Costs: those of FreeExtents; for a fresh block a share of an mmap of StateThresholds::region_bytes and its page
// faults, unless Prefault has paid them before. Where no clean memory is free, Acquire zeroes a block of up to that
// size, and takes a larger one from the system.
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
#include "state/log/free_extents.h"
#include "state/log/state_thresholds.h"

namespace glaive::state {

/// What an acquired block holds, and whether it is cleaned when it comes back.
enum class Contents : std::uint8_t {
  kAny,     // whatever the last user left
  kZeroed,  // zeros
};

class StateMemory {
 public:
  /// At most `limit_bytes` will ever be mapped. `hash_seed` is the run's: the tables in this memory place their keys by
  /// it, and change how they work at `thresholds`.
  explicit StateMemory(std::uint64_t limit_bytes, std::uint64_t hash_seed = 0, const StateThresholds& thresholds = {});

  StateMemory(const StateMemory&) = delete;
  StateMemory& operator=(const StateMemory&) = delete;

  /// Takes `size_bytes` from the system ahead of time, page faults included; blocks of all sizes are cut from them.
  /// Call it before the first Acquire. ResourceExhausted when the budget or the system has less;
  /// `watch` may end it.
  absl::Status Prefault(std::size_t size_bytes, const Watch& watch);

  /// A block of `size_bytes`, rounded up to 64. ResourceExhausted when the budget or the system has no more.
  absl::StatusOr<Block> Acquire(std::size_t size_bytes, Contents contents);

  /// Takes a block back, with whatever its user left in it: of the size that was asked for, or of the one it got.
  void Release(Block block, Contents contents);

  /// Zeroes up to `max_bytes`, in whole lines of 64, of what was released as kZeroed; false when nothing is left to
  /// clean.
  bool CleanSome(std::size_t max_bytes);

  /// Takes pages from the system for up to `max_bytes` of large blocks that were acquired as kZeroed and have none;
  /// false when nothing is left to take. To be called until then before a table in such a block is used at random.
  bool TouchSome(std::size_t max_bytes);
  /// Whether TouchSome has anything left to take.
  bool has_untouched() const { return !untouched_.empty(); }
  /// That TouchSome has taken pages for.
  std::uint64_t touched_bytes() const { return touched_bytes_; }

  std::uint64_t limit_bytes() const { return limit_bytes_; }
  /// The hash of the keys in this memory's tables, the same on all executors of a run.
  const KeyHash& key_hash() const { return key_hash_; }
  const StateThresholds& thresholds() const { return thresholds_; }
  /// Bytes taken from the system and not given back.
  std::uint64_t mapped_bytes() const { return mapped_bytes_; }
  /// Of those, bytes of blocks that were acquired and not released; and the most there have been.
  std::uint64_t used_bytes() const { return mapped_bytes_ - free_.bytes(); }
  std::uint64_t most_used_bytes() const { return most_used_bytes_; }
  /// What the system gave, and on which pages.
  std::span<const rdma::PageRegion> regions() const { return regions_; }

 private:
  /// From free memory; none where no piece is large enough, or new memory costs less.
  std::optional<Block> TakeAny(std::size_t size_bytes);
  std::optional<Block> TakeZeroed(std::size_t size_bytes);
  /// A large block that holds what the system gave.
  void NoteUntouched(const Block& block);
  std::size_t WholeRegions(std::size_t size_bytes) const;
  /// Maps a region for at least so many bytes, all of it free.
  absl::Status MapRegion(std::size_t size_bytes);
  /// Gives wholly free regions back until another one of so many bytes would not exceed the limit, or none is left.
  void UnmapFor(std::size_t region_bytes);

  const std::uint64_t limit_bytes_;
  const KeyHash key_hash_;
  const StateThresholds thresholds_;
  std::uint64_t mapped_bytes_ = 0;
  std::uint64_t most_used_bytes_ = 0;
  std::vector<rdma::PageRegion> regions_;
  std::span<const std::byte> prefaulted_;  // of the first region
  FreeExtents free_;
  std::vector<Block> untouched_;  // what is left of large blocks in use
  std::uint64_t touched_bytes_ = 0;
};

}  // namespace glaive::state

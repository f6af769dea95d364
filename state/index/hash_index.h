// HashIndex: a hash index that grows in steps.
//
// When the entries outgrow the table, a larger one is taken, and the buckets of the old one move over a few at a time,
// in their order, along with the updates that go on meanwhile. A hash is looked up in the old table while its bucket
// there has not moved, and then in the new one.
//
// Owned by one executor, used by its thread alone. Entries are numbered 0, 1, 2 … as they are inserted.
//
//   1. Entries of the old table's buckets from moved_buckets_ on are in the old table alone. All others are in the new
//      one.
//   2. A growth ends before either table is full, if GrowSome moves kMovesPerUpdate entries for each that may come in.
//
// Costs: those of BucketTable.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"

#include "state/index/placed_table.h"

namespace glaive::state {

class HashIndex {
 public:
  static constexpr std::uint32_t kNoEntry = PlacedTable::kNoEntry;
  /// A growth then ends after about an eighth as many updates as the old table was planned for: few enough that new
  /// entries don't use up the overflow buckets of what has not moved.
  static constexpr std::uint32_t kMovesPerUpdate = 8;

  /// An index planned for `expected_entries`.
  static absl::StatusOr<HashIndex> Create(StateMemory& memory, std::uint64_t expected_entries);

  void Release(StateMemory& memory);

  // While the index does not grow, both use its only table. Else they find out which of two tables the hash belongs to.

  [[gnu::always_inline]] void Prefetch(std::uint64_t hash) const {
    if (growing()) [[unlikely]] {
      tables_[TableOf(hash)].Prefetch(hash);
    } else {
      tables_[kNew].Prefetch(hash);
    }
  }
  /// See BucketTable::Guess.
  [[gnu::always_inline]] std::uint32_t Guess(std::uint64_t hash) const {
    if (growing()) [[unlikely]] {
      return tables_[TableOf(hash)].Guess(hash);
    }
    return tables_[kNew].Guess(hash);
  }

  /// The entry for which `equal` holds, else the next number, size(), which is entered and counted.
  /// kNoEntry when the table has no room left before it has grown: call GrowSome until it has, and try again.
  template <typename Equal>
  std::uint32_t FindOrInsert(std::uint64_t hash, Equal&& equal) {
    const std::uint32_t entry = tables_[TableOf(hash)].FindOrInsert(hash, size_, equal);
    size_ += entry == size_ ? 1 : 0;
    return entry;
  }

  /// The entry for which `equal` holds, else kNoEntry.
  template <typename Equal>
  std::uint32_t Find(std::uint64_t hash, Equal&& equal) const {
    return tables_[TableOf(hash)].Find(hash, equal);
  }

  bool growing() const { return !tables_[kOld].empty(); }
  bool wants_to_grow() const { return size_ > tables_[kNew].planned_entries() && !growing(); }

  /// Starts a growth to a table for `factor` times as many entries, a power of 2 from 2 on. ResourceExhausted when
  /// there is no memory for the larger table; nothing has changed then.
  absl::Status StartGrowth(StateMemory& memory, std::uint64_t factor = 2);

  /// Moves about `entries` entries, by whole buckets; `hash_of(entry)` gives an entry's hash.
  template <typename HashOf>
  absl::Status GrowSome(StateMemory& memory, std::uint32_t entries, HashOf&& hash_of) {
    PlacedTable& old = tables_[kOld];
    for (std::uint32_t moved = 0; moved < entries && moved_buckets_ < old.bucket_count(); ++moved_buckets_) {
      tables_[kNew].PrefetchTakeOver(old, moved_buckets_ + kBucketsAhead);
      const std::optional<std::uint32_t> taken = tables_[kNew].TakeOver(old, moved_buckets_, hash_of);
      if (!taken) {
        return OverflowError();
      }
      moved += std::max(*taken, 1U);  // empty ones cost something, too
    }
    if (moved_buckets_ == old.bucket_count()) {
      old.Release(memory);
    }
    return absl::OkStatus();
  }

  /// ResourceExhausted: so many hashes fall into one bucket that a larger table would not help.
  absl::Status OverflowError() const;

  /// Entries in the index.
  std::uint32_t size() const { return size_; }
  std::size_t size_bytes() const { return tables_[kNew].size_bytes() + tables_[kOld].size_bytes(); }
  /// How often the index has grown.
  std::uint64_t growths() const { return growths_; }

 private:
  /// Buckets of a growth that are on their way side by side.
  static constexpr std::uint64_t kBucketsAhead = 16;

  static constexpr std::size_t kNew = 0;
  static constexpr std::size_t kOld = 1;

  /// Which table a hash is looked up in. Without a branch on the hash, which would be mispredicted half the time.
  std::size_t TableOf(std::uint64_t hash) const {
    return growing() ? static_cast<std::size_t>(tables_[kOld].BucketOf(hash) >= moved_buckets_) : kNew;
  }

  std::array<PlacedTable, 2> tables_;
  std::uint64_t moved_buckets_ = 0;  // of the old table
  std::uint32_t size_ = 0;
  std::uint64_t growths_ = 0;
};

}  // namespace glaive::state

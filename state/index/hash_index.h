// HashIndex: a BucketTable that grows in steps.
//
// When the entries outgrow the table, a table of twice the size is taken and the old entries move over a few
// at a time, in the order of the log (so the log is read in sequence), along with the updates that go on
// meanwhile. Until all have moved, a lookup asks the new table first and then the old one.
//
// Owned by one executor, used by its thread alone. Entries are numbered 0, 1, 2 … as they are inserted.
//
//   1. Entries below migrated_ or from growth_end_ on are in the new table, those between in the old one.
//   2. A growth ends before the new table is full: GrowSome moves at least as many entries as come in.
//
// Costs: those of BucketTable; while growing, up to twice as much.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"

#include "state/index/bucket_table.h"

namespace glaive::state {

class HashIndex {
 public:
  static constexpr std::uint32_t kNoEntry = BucketTable::kNoEntry;

  /// An index planned for `expected_entries`.
  static absl::StatusOr<HashIndex> Create(StateMemory& memory, std::uint64_t expected_entries);

  void Release(StateMemory& memory);

  [[gnu::always_inline]] void Prefetch(std::uint64_t hash) const {
    table_.Prefetch(hash);
    if (growing()) {
      old_.Prefetch(hash);
    }
  }

  /// See BucketTable::Guess.
  [[gnu::always_inline]] std::uint32_t Guess(std::uint64_t hash) const {
    const std::uint32_t entry = table_.Guess(hash);
    return entry == kNoEntry && growing() ? old_.Guess(hash) : entry;
  }

  /// The entry for which `equal` holds, else the next number, size(), which is entered and counted.
  /// kNoEntry when the table has no room left before it has grown: call GrowSome until it has, and try again.
  template <typename Equal>
  std::uint32_t FindOrInsert(std::uint64_t hash, Equal&& equal) {
    if (growing()) {
      const std::uint32_t found = Find(hash, equal);
      if (found != kNoEntry) {
        return found;
      }
    }
    const std::uint32_t entry = table_.FindOrInsert(hash, size_, equal);
    size_ += entry == size_ ? 1 : 0;
    return entry;
  }

  /// The entry for which `equal` holds, else kNoEntry.
  template <typename Equal>
  std::uint32_t Find(std::uint64_t hash, Equal&& equal) const {
    const std::uint32_t found = table_.Find(hash, equal);
    return found == kNoEntry && growing() ? old_.Find(hash, equal) : found;
  }

  bool growing() const { return !old_.empty(); }
  bool wants_to_grow() const { return size_ > table_.planned_entries() && !growing(); }

  /// Starts a growth. ResourceExhausted when there is no memory for the larger table.
  absl::Status StartGrowth(StateMemory& memory);

  /// Moves up to `entries` entries; `hash_of(entry)` gives an entry's hash.
  template <typename HashOf>
  absl::Status GrowSome(StateMemory& memory, std::uint32_t entries, HashOf&& hash_of) {
    const std::uint32_t end = migrated_ + std::min(entries, growth_end_ - migrated_);
    while (migrated_ < end) {
      std::array<std::uint64_t, kMovedAtOnce> hashes;
      const std::uint32_t count = std::min(kMovedAtOnce, end - migrated_);
      for (std::uint32_t i = 0; i < count; ++i) {
        hashes[i] = hash_of(migrated_ + i);
        table_.Prefetch(hashes[i]);
      }
      for (std::uint32_t i = 0; i < count; ++i, ++migrated_) {
        if (!table_.Insert(hashes[i], migrated_)) {
          return OverflowError();
        }
      }
    }
    if (migrated_ == growth_end_) {
      old_.Release(memory);
    }
    return absl::OkStatus();
  }

  /// Entries in the index.
  std::uint32_t size() const { return size_; }
  std::size_t size_bytes() const { return table_.size_bytes() + old_.size_bytes(); }
  /// How often the index has grown.
  std::uint64_t growths() const { return growths_; }

 private:
  /// Entries of a growth whose buckets are loaded side by side.
  static constexpr std::uint32_t kMovedAtOnce = 32;

  absl::Status OverflowError() const;

  BucketTable table_;
  BucketTable old_;
  std::uint32_t size_ = 0;
  std::uint32_t migrated_ = 0;
  std::uint32_t growth_end_ = 0;
  std::uint64_t growths_ = 0;
};

}  // namespace glaive::state

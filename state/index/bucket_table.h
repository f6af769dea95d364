// BucketTable: a hash index of fixed size: buckets of tagged entry numbers with chained overflow buckets.
//
// It has no keys. It maps a hash to the numbers of the log entries that may hold the key, and the caller compares the
// keys. Owned by one executor, used by its thread alone.
//
//   1. An entry number is in the table at most once.
//   2. No entry is removed on its own: Clear empties the whole table.
//
// Costs: a lookup touches one cache line, and one more for every overflow bucket of its chain. At the load that Create
// plans for (8 of 12 tags) about one bucket in fifteen has an overflow bucket.
//
//   std::uint32_t found = table.Find(hash, [&](std::uint32_t entry) { return log[entry].key == key; });
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

#include "rdma/base/prefetch.h"
#include "state/index/bucket.h"
#include "state/log/state_memory.h"

namespace glaive::state {

class BucketTable {
 public:
  /// "No such entry": the largest entry number is one less.
  static constexpr std::uint32_t kNoEntry = 0xFFFFFFFF;
  /// Entries a bucket is planned to hold.
  static constexpr std::uint64_t kPlannedLoad = 8;

  BucketTable() = default;

  /// A table planned for `expected_entries`, in zeroed memory of `memory`. ResourceExhausted past the budget.
  static absl::StatusOr<BucketTable> Create(StateMemory& memory, std::uint64_t expected_entries);

  /// Gives the memory back; the table is then as if default-constructed.
  void Release(StateMemory& memory);

  /// Forgets every entry. Costs a memset of size_bytes().
  void Clear();

  bool empty() const { return buckets_ == nullptr; }
  std::uint64_t bucket_count() const { return buckets_ == nullptr ? 0 : mask_ + 1; }
  std::size_t size_bytes() const { return block_.size_bytes; }
  /// How many entries the table was planned for; it takes more, with longer chains.
  std::uint64_t planned_entries() const { return bucket_count() * kPlannedLoad; }

  [[gnu::always_inline]] void Prefetch(std::uint64_t hash) const { glaive::Prefetch(&buckets_[hash & mask_]); }

  /// The first entry of the hash's own bucket that has its tag, else kNoEntry: a guess to prefetch, often right.
  [[gnu::always_inline]] std::uint32_t Guess(std::uint64_t hash) const {
    const Bucket& bucket = buckets_[hash & mask_];
    const std::uint32_t matches = bucket.Matches(TagOf(hash));
    return matches == 0 ? kNoEntry : bucket.entry[std::countr_zero(matches)];
  }

  /// The entry under `hash` for which `equal(entry)` holds, else kNoEntry.
  template <typename Equal>
  std::uint32_t Find(std::uint64_t hash, Equal&& equal) const {
    return Walk(hash, equal).found;
  }

  /// As Find; where there is none, enters `entry` and returns it. kNoEntry when the overflow buckets are used up.
  template <typename Equal>
  std::uint32_t FindOrInsert(std::uint64_t hash, std::uint32_t entry, Equal&& equal) {
    const Position position = Walk(hash, equal);
    if (position.found != kNoEntry) {
      return position.found;
    }
    return InsertAt(position.last, TagOf(hash), entry) ? entry : kNoEntry;
  }

  // ---- by bucket ---------------------------------------------------------------------------------------------------

  /// The number of a hash's bucket, below bucket_count().
  std::uint64_t BucketOf(std::uint64_t hash) const { return hash & mask_; }

  /// Enters an entry that is known not to be there. False when the overflow buckets are used up.
  bool InsertInto(std::uint64_t bucket_number, std::uint8_t tag, std::uint32_t entry) {
    Bucket* bucket = &buckets_[bucket_number];
    while (bucket->overflow != Bucket::kNoOverflow) {
      bucket = &buckets_[mask_ + bucket->overflow];
    }
    return InsertAt(bucket, tag, entry);
  }

  /// As InsertInto, in a bucket whose first `taken` tags are taken and no others. Many entries are entered one after
  /// another without reading back the tags that were just written, for which the processor would wait.
  void InsertBehind(std::uint64_t bucket_number, std::size_t taken, std::uint8_t tag, std::uint32_t entry) {
    buckets_[bucket_number].tag[taken] = tag;
    buckets_[bucket_number].entry[taken] = entry;
  }

  /// Calls `visit(tag, entry)` for all entries of a bucket and its overflow buckets, in the order they came.
  template <typename Visit>
  void ForEachIn(std::uint64_t bucket_number, Visit&& visit) const {
    const Bucket* bucket = &buckets_[bucket_number];
    while (true) {
      for (std::size_t i = 0; i < Bucket::kTags && bucket->tag[i] != 0; ++i) {
        visit(bucket->tag[i], bucket->entry[i]);
      }
      if (bucket->overflow == Bucket::kNoOverflow) {
        return;
      }
      bucket = &buckets_[mask_ + bucket->overflow];
    }
  }

 private:
  struct Position {
    std::uint32_t found = kNoEntry;
    Bucket* last = nullptr;  // the end of the chain, where an insertion goes
  };

  template <typename Equal>
  Position Walk(std::uint64_t hash, Equal& equal) const {
    const std::uint8_t tag = TagOf(hash);
    Bucket* bucket = &buckets_[hash & mask_];
    while (true) {
      for (std::uint32_t matches = bucket->Matches(tag); matches != 0; matches &= matches - 1) {
        const std::uint32_t entry = bucket->entry[std::countr_zero(matches)];
        if (equal(entry)) {
          return Position{.found = entry, .last = bucket};
        }
      }
      if (bucket->overflow == Bucket::kNoOverflow) {
        return Position{.found = kNoEntry, .last = bucket};
      }
      bucket = &buckets_[mask_ + bucket->overflow];
    }
  }

  bool InsertAt(Bucket* bucket, std::uint8_t tag, std::uint32_t entry) {
    std::uint32_t free = bucket->Matches(0);
    if (free == 0) {
      if (overflow_used_ == overflow_count_) {
        return false;
      }
      bucket->overflow = ++overflow_used_;
      bucket = &buckets_[mask_ + bucket->overflow];
      free = bucket->Matches(0);
    }
    const int first_free = std::countr_zero(free);
    bucket->tag[first_free] = tag;
    bucket->entry[first_free] = entry;
    return true;
  }

  Block block_;
  Bucket* buckets_ = nullptr;  // mask_ + 1 buckets, then overflow_count_ more: overflow n is buckets_[mask_ + n]
  std::uint64_t mask_ = 0;
  std::uint32_t overflow_count_ = 0;
  std::uint32_t overflow_used_ = 0;
};

}  // namespace glaive::state

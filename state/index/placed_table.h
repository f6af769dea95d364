// PlacedTable: a BucketTable whose entries have their places in a larger table beside their numbers.
//
// An entry's word has its number and as many bits of its hash as find room, those next to the bits of the bucket's
// number. A larger table takes a bucket over by these bits. It needs neither the keys nor the hashes, and both tables
// are read and written in sequence. The word of a table of 2^k buckets:
//
//   bits        what
//   0 .. k+4    the entry's number; an index never has 2^(k+5) entries before it has grown out of such a table
//   k+5 .. 31   bits k .. 26 of its hash
//
// A table of fewer than 2^7 buckets has numbers of 12 bits and less of the hash, and one of 2^27 and more has none of
// it. Where the smaller table lacks bits that the larger one needs, the hashes of its entries are computed again.
//
// Owned by one executor, used by its thread alone. Costs: those of BucketTable.
//
//   absl::StatusOr<PlacedTable> larger = PlacedTable::Create(memory, 8 * table.planned_entries());
//   larger->TakeOver(table, /*bucket=*/0, hash_of);
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"

#include "rdma/base/check.h"
#include "state/index/bucket_table.h"
#include "state/log/state_memory.h"

namespace glaive::state {

class PlacedTable {
 public:
  static constexpr std::uint32_t kNoEntry = BucketTable::kNoEntry;

  PlacedTable() = default;

  /// As BucketTable::Create.
  static absl::StatusOr<PlacedTable> Create(StateMemory& memory, std::uint64_t expected_entries) {
    absl::StatusOr<BucketTable> table = BucketTable::Create(memory, expected_entries);
    if (!table.ok()) {
      return table.status();
    }
    return PlacedTable(*table);
  }

  /// Gives the memory back; the table is then as if default-constructed.
  void Release(StateMemory& memory) {
    table_.Release(memory);
    *this = PlacedTable();
  }

  bool empty() const { return table_.empty(); }
  std::uint64_t bucket_count() const { return table_.bucket_count(); }
  std::size_t size_bytes() const { return table_.size_bytes(); }
  std::uint64_t planned_entries() const { return table_.planned_entries(); }
  std::uint64_t BucketOf(std::uint64_t hash) const { return table_.BucketOf(hash); }

  [[gnu::always_inline]] void Prefetch(std::uint64_t hash) const { table_.Prefetch(hash); }

  /// See BucketTable::Guess.
  [[gnu::always_inline]] std::uint32_t Guess(std::uint64_t hash) const {
    const std::uint32_t word = table_.Guess(hash);
    return word == kNoEntry ? kNoEntry : word & number_mask_;
  }

  /// The entry under `hash` for which `equal(entry)` holds, else kNoEntry.
  template <typename Equal>
  std::uint32_t Find(std::uint64_t hash, Equal&& equal) const {
    const std::uint32_t word = table_.Find(hash, [&](std::uint32_t found) { return equal(found & number_mask_); });
    return word == kNoEntry ? kNoEntry : word & number_mask_;
  }

  /// As Find; where there is none, enters `entry` and returns it. kNoEntry when the overflow buckets are used up.
  template <typename Equal>
  std::uint32_t FindOrInsert(std::uint64_t hash, std::uint32_t entry, Equal&& equal) {
    const std::uint32_t word = table_.FindOrInsert(hash, WordOf(hash, entry),
                                                   [&](std::uint32_t found) { return equal(found & number_mask_); });
    return word == kNoEntry ? kNoEntry : word & number_mask_;
  }

  /// Enters what a bucket of a smaller table has, with its overflow buckets; `hash_of(entry)` gives an entry's hash,
  /// and is asked only where the smaller table does not know it. Nothing else has been entered yet whose bucket that
  /// was. Returns how many entries those are; none when the overflow buckets are used up.
  template <typename HashOf>
  std::optional<std::uint32_t> TakeOver(const PlacedTable& smaller, std::uint64_t bucket, HashOf&& hash_of) {
    const bool known = smaller.bucket_bits_ >= kFewestBits && bucket_bits_ <= kPlaceBits;
    std::array<std::uint8_t, kMaxFactor> filled{};  // tags of the buckets here, which were empty
    std::uint32_t entries = 0;
    bool fits = true;
    smaller.table_.ForEachIn(bucket, [&](std::uint8_t tag, std::uint32_t word) {
      const std::uint32_t entry = word & smaller.number_mask_;
      const std::uint64_t place =
          known ? bucket | std::uint64_t{word >> smaller.number_bits_} << smaller.bucket_bits_ : hash_of(entry);
      const std::uint64_t target = BucketOf(place);
      const std::uint64_t which = target >> smaller.bucket_bits_;
      if (known && which < kMaxFactor && filled[which] < Bucket::kTags) [[likely]] {
        table_.InsertBehind(target, filled[which]++, tag, WordOf(place, entry));
      } else {
        fits = fits && table_.InsertInto(target, tag, WordOf(place, entry));
      }
      ++entries;
    });
    return fits ? std::optional(entries) : std::nullopt;
  }

  /// Starts loading the buckets that TakeOver of a bucket of a smaller table writes to.
  [[gnu::always_inline]] void PrefetchTakeOver(const PlacedTable& smaller, std::uint64_t bucket) const {
    for (std::uint64_t place = bucket; place < bucket_count(); place += smaller.bucket_count()) {
      table_.Prefetch(place);
    }
  }

 private:
  static constexpr std::size_t kMaxFactor = 8;         // by which a table is larger, if taking over is to be fast
  static constexpr int kPlaceBits = 27;                // of a hash that are stored at all
  static constexpr int kFewestBits = 7;                // of a bucket's number from which on they find room
  static constexpr int kNumberBits = 32 - kPlaceBits;  // of an entry's number beyond those of a bucket's

  explicit PlacedTable(const BucketTable& table)
      : table_(table),
        bucket_bits_(std::countr_zero(table.bucket_count())),
        number_bits_(std::clamp(bucket_bits_ + kNumberBits, kFewestBits + kNumberBits, 32)),
        number_mask_(static_cast<std::uint32_t>((std::uint64_t{1} << number_bits_) - 1)) {}

  std::uint32_t WordOf(std::uint64_t hash, std::uint32_t entry) const {
    GLAIVE_CHECK(entry <= number_mask_, "entry ", entry, " in an index of ", bucket_count(), " buckets");
    const std::uint64_t place = hash & ((std::uint64_t{1} << kPlaceBits) - 1);
    return static_cast<std::uint32_t>(place >> bucket_bits_ << number_bits_) | entry;
  }

  BucketTable table_;
  int bucket_bits_ = 0;
  int number_bits_ = 32;
  std::uint32_t number_mask_ = 0;
};

}  // namespace glaive::state

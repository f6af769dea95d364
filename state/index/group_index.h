// GroupIndex: finds the entries of a key among entries that lie anywhere. It is built once, probed, and released.
//
// A chained hash table over pointers: each bucket links the first entries of its keys, and each of them links the
// others of its key. So a key with a million entries costs no other key anything. It is made for one log of a split
// table, which fits the cache (store/append_table.h).
//
// Owned by one executor, used by its thread alone. Entries are told apart by `.key`.
//
//   auto index = GroupIndex<Entry>::Create(memory, entries);
//   index->Insert(entry);                                              // at most `entries` of them
//   for (std::uint32_t n = index->Find(key); n != index->kNone; n = index->Next(n)) Use(index->At(n));
//   index->Release(memory);
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "state/index/key_hash.h"
#include "state/log/state_memory.h"

namespace glaive::state {

template <typename Entry>
class GroupIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 31;

  /// Room for `entries`. ResourceExhausted past the budget.
  static absl::StatusOr<GroupIndex> Create(StateMemory& memory, std::uint64_t entries) {
    if (entries > kMaxEntries) {
      return absl::ResourceExhaustedError(
          absl::StrCat("a join of ", entries, " tuples on one executor; the most are 2^31: use more executors"));
    }
    const std::uint64_t buckets = std::bit_ceil(std::max<std::uint64_t>(entries, kFewestBuckets));
    absl::StatusOr<Block> block = memory.Acquire(buckets * (sizeof(Node) + sizeof(std::uint32_t)), Contents::kAny);
    if (!block.ok()) {
      return block.status();
    }
    return GroupIndex(*block, buckets, memory);
  }

  /// Clears some of the buckets. To be called until it returns false, which says that all are clear, before the first
  /// Insert.
  bool ClearSome() {
    const std::uint64_t end = std::min(cleared_ + cleared_at_once_, mask_ + 1);
    std::fill(buckets_ + cleared_, buckets_ + end, kNone);
    cleared_ = end;
    return cleared_ <= mask_;
  }

  void Insert(const Entry& entry) {
    const std::uint32_t number = size_++;
    std::uint32_t& bucket = BucketOf(entry.key);
    for (std::uint32_t first = bucket; first != kNone; first = nodes_[first].next_key) {
      if (nodes_[first].entry->key == entry.key) {
        nodes_[number] = {.entry = &entry, .next_key = kNotFirst, .next_same = nodes_[first].next_same};
        nodes_[first].next_same = number;
        return;
      }
    }
    nodes_[number] = {.entry = &entry, .next_key = bucket, .next_same = kNone};
    bucket = number;
  }

  /// The first entry of a key, kNone if there is none.
  template <typename K>
  std::uint32_t Find(const K& key) const {
    std::uint32_t first = BucketOf(key);
    while (first != kNone && !(nodes_[first].entry->key == key)) {
      first = nodes_[first].next_key;
    }
    return first;
  }
  /// The next entry of the same key, kNone behind the last.
  std::uint32_t Next(std::uint32_t number) const { return nodes_[number].next_same; }
  const Entry& At(std::uint32_t number) const { return *nodes_[number].entry; }

  /// Entries; they are numbered from 0.
  std::uint32_t size() const { return size_; }
  /// Whether Find returns this one for its key.
  bool IsFirst(std::uint32_t number) const { return nodes_[number].next_key != kNotFirst; }

  void Release(StateMemory& memory) { memory.Release(block_, Contents::kAny); }

 private:
  static constexpr std::uint64_t kFewestBuckets = 64;
  static constexpr std::uint32_t kNotFirst = 0xFFFFFFFE;

  struct Node {
    const Entry* entry;
    std::uint32_t next_key;   // of the bucket's next key, if this is its key's first; else kNotFirst
    std::uint32_t next_same;  // of the same key
  };

  GroupIndex(Block block, std::uint64_t buckets, const StateMemory& memory)
      : hash_(memory.key_hash()),
        block_(block),
        nodes_(reinterpret_cast<Node*>(block.data)),
        buckets_(reinterpret_cast<std::uint32_t*>(block.data + buckets * sizeof(Node))),
        mask_(buckets - 1),
        cleared_at_once_(memory.thresholds().cells_per_turn) {}

  template <typename K>
  std::uint32_t& BucketOf(const K& key) const {
    return buckets_[hash_(key) & mask_];
  }

  KeyHash hash_;
  Block block_;
  Node* nodes_;
  std::uint32_t* buckets_;
  std::uint64_t mask_;
  std::uint64_t cleared_at_once_;
  std::uint64_t cleared_ = 0;  // buckets
  std::uint32_t size_ = 0;
};

}  // namespace glaive::state

// CellTable: keys beside their values in one array, by open addressing with linear probing.
//
// Updating a key takes one cache line. A log with an index takes two, and the address of the second is in the first. In
// turn a cell table does not grow, and takes more room: some cells are free, and a cell has the key's size and the
// value's, rounded up to a power of two. So it is for slices whose number of keys is known, and whose keys come again.
//
// Owned by one executor, used by its thread alone.
//
//   1. A cell whose key is all zero bytes is free; the key of zeros has a place of its own behind the others.
//   2. No cell is freed on its own. So a key that found no cell never finds one later.
//
// A copy shares the cells, but not the number of keys: after an insertion into a copy, the copy replaces the original.
//
// The texts of keys are in a TextLog of the table's owner.
//
//   CountValue* value = table.FindOrInsert(table.HomeOf(key), key, texts);   // null: store the key elsewhere
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"

#include "rdma/base/every.h"
#include "rdma/base/prefetch.h"
#include "state/index/key_hash.h"
#include "state/log/state_memory.h"
#include "state/log/text_log.h"
#include "state/record/record.h"

namespace glaive::state {

/// Whether all bytes of a new value are zero, as those of a free cell are. False where the compiler cannot tell.
template <typename V>
constexpr bool HasOnlyZeros() {
  using Bytes = std::array<unsigned char, sizeof(V)>;
  return std::bit_cast<Bytes>(V{}) == Bytes{};
}
template <typename V>
concept StartsAsZeros = std::has_unique_object_representations_v<V> &&
                        requires { typename std::bool_constant<HasOnlyZeros<V>()>; } && HasOnlyZeros<V>();

/// A cell outside the cache is prefetched so many updates before it is updated, a chunk of updates at a time. Two loops
/// of few instructions each, one that prefetches a chunk and one that updates a chunk, have more loads under way than
/// one loop.
inline constexpr std::size_t kCellsAhead = 48;
inline constexpr std::size_t kCellChunk = 16;

/// For loops over much state: what is called now and then, so that the caller can let others run.
struct NoPause {
  void operator()() const {}
};

/// The number of the first cell that is probed for a key.
enum class CellHome : std::uint64_t {};

/// `V` is any type whose bytes are its value; with the key it is best no larger than a cache line.
template <StateKey K, typename V>
class CellTable {
  static constexpr std::size_t kLineBytes = 64;
  static_assert(std::is_trivially_copyable_v<V>);

  static constexpr std::size_t AlignmentOf(std::size_t size_bytes) {
    return std::min(std::bit_ceil(size_bytes), kLineBytes);
  }

 public:
  /// Rounded up to a size that lies on no more cache lines than it has to.
  struct alignas(AlignmentOf(sizeof(K) + sizeof(V))) Entry {
    K key;
    V value;
  };

  /// Cells that are probed for a key, one behind the other.
  static constexpr std::size_t kMostProbes = 32;
  static constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 31;

  /// Without cells.
  CellTable() = default;

  /// How much memory a table for `keys` takes.
  static std::size_t BytesFor(std::uint64_t keys) { return (HomesFor(keys) + kMostProbes + 1) * sizeof(Entry); }

  /// A table that `keys`, kMostKeys at most, fill to between a half and two thirds. It takes more, up to three
  /// quarters. ResourceExhausted past the budget.
  static absl::StatusOr<CellTable> Create(StateMemory& memory, std::uint64_t keys) {
    absl::StatusOr<Block> block = memory.Acquire(BytesFor(keys), Contents::kZeroed);
    if (!block.ok()) {
      return block.status();
    }
    return CellTable(*block, HomesFor(keys), memory);
  }

  /// Gives the memory back; the table is then without cells.
  void Release(StateMemory& memory) {
    if (!empty()) {
      memory.Release(block_, Contents::kZeroed);
    }
    *this = CellTable();
  }

  /// Frees all cells.
  void Clear() {
    std::memset(static_cast<void*>(block_.data), 0, block_.size_bytes);
    size_ = 0;
    has_zero_ = false;
  }

  /// Whether it has no cells.
  bool empty() const { return cells_ == nullptr; }
  /// The hash that its keys are placed by.
  const KeyHash& key_hash() const { return hash_; }
  /// Keys.
  std::uint32_t size() const { return size_; }
  /// Whether new keys get no cell.
  bool full() const { return size_ >= limit(); }
  std::size_t size_bytes() const { return block_.size_bytes; }
  /// Whether it is larger than a usual second-level cache, so that it helps to prefetch.
  bool exceeds_cache() const { return exceeds_cache_; }
  /// Whether it is so much larger than a usual first-level cache that prefetching helps a run of updates.
  bool exceeds_first_level_cache() const { return exceeds_first_level_cache_; }

  /// Where probing for a key begins.
  [[gnu::always_inline]] CellHome HomeOf(const K& key) const {
    return CellHome{std::uint64_t{hash_.Spread(key)} * homes_ >> 32};
  }

  /// Starts loading a key's cell.
  [[gnu::always_inline]] void Prefetch(CellHome home) const { glaive::Prefetch(&cells_[Number(home)]); }

  /// The key's value, null if it has none here.
  [[gnu::always_inline]] V* Find(CellHome home, const K& key) const {
    if (IsZero(key)) [[unlikely]] {
      return has_zero_ ? &ZeroEntry().value : nullptr;
    }
    Entry* const entry = Probe(home, key);
    return entry != nullptr && entry->key == key ? &entry->value : nullptr;
  }

  /// The key's value, a default one if the key is new; null if the key has no cell, now and later. The texts of a new
  /// key move to `texts`, which has room for them.
  [[gnu::always_inline]] V* FindOrInsert(CellHome home, const K& key, TextLog<K>& texts) {
    if (IsZero(key)) [[unlikely]] {
      return InsertZero();
    }
    Entry* entry = &cells_[Number(home)];
    const std::uint32_t is_free = IsZero(entry->key) ? 1 : 0;
    const std::uint32_t is_its_own = entry->key == key ? 1 : 0;
    if ((is_free | is_its_own) == 0) {
      entry = Probe(home, key);
      if (entry == nullptr) [[unlikely]] {
        return nullptr;
      }
    }
    // Whether a key is new is as good as random in a young table: no branch, which would be mispredicted.
    const std::uint32_t is_new = IsZero(entry->key) ? 1 : 0;
    if (size_ >= limit() && is_new != 0) [[unlikely]] {
      return nullptr;
    }
    size_ += is_new;
    if constexpr (kHasText<K>) {
      if (is_new != 0) {
        entry->key = texts.Own(key);
      }
    } else {
      entry->key = key;
    }
    if constexpr (!StartsAsZeros<V>) {
      if (is_new != 0) {
        new (&entry->value) V{};
      }
    }
    return &entry->value;
  }

  [[gnu::always_inline]] V* FindOrInsert(CellHome home, const K& key)
    requires(!kHasText<K>)
  {
    TextLog<K> no_texts;
    return FindOrInsert(home, key, no_texts);
  }

  /// Calls `visit(entry)`, which returns a status, for each key, until one is not OK; returns that. Calls `pause()`
  /// once in StateThresholds::cells_per_turn cells, whether they are used or not.
  template <typename Visit, typename Pause = NoPause>
  absl::Status ForEach(Visit&& visit, Pause&& pause = {}) const {
    std::span<const Entry> rest(cells_, empty() ? 0 : homes_ + kMostProbes);
    std::array<const Entry*, 128> used;
    for (Every turn(std::max<std::uint64_t>(cells_per_turn_ / used.size(), 1)); !rest.empty();) {
      if (turn.Step()) {
        pause();
      }
      // Every pointer is written and those of used cells stay: a branch for each would be mispredicted.
      std::size_t count = 0;
      for (const Entry& entry : rest.first(std::min(used.size(), rest.size()))) {
        glaive::Prefetch(&entry + kScannedAhead);
        used[count] = &entry;
        count += IsZero(entry.key) ? 0 : 1;
      }
      for (const Entry* entry : std::span(used).first(count)) {
        if (absl::Status status = visit(*entry); !status.ok()) {
          return status;
        }
      }
      rest = rest.subspan(std::min(used.size(), rest.size()));
    }
    return has_zero_ ? visit(std::as_const(ZeroEntry())) : absl::OkStatus();
  }

  /// Copies keys and values, as {key, value}, to `out`: those of the cells from number `position` on, until `out` is
  /// full or all have been visited. Returns how many, none at the end, and moves `position` behind the last one.
  template <typename Out>
  std::size_t CopyFrom(std::size_t& position, std::span<Out> out) const {
    const std::size_t last = homes_ + kMostProbes;  // the place of the key of zeros
    std::size_t count = 0;
    while (position < last && count < out.size()) {
      // Every cell is written and those that are used stay: a branch for each would be mispredicted.
      const std::size_t end = position + std::min(out.size() - count, last - position);
      for (; position < end; ++position) {
        out[count] = {cells_[position].key, cells_[position].value};
        count += IsZero(cells_[position].key) ? 0 : 1;
      }
    }
    if (position == last && count < out.size()) {
      ++position;
      if (has_zero_) {
        out[count++] = {ZeroEntry().key, ZeroEntry().value};
      }
    }
    return count;
  }

 private:
  /// While a window's results are made, the processor's own prefetchers lose the array.
  static constexpr std::size_t kScannedAhead = 4096 / sizeof(Entry);
  static constexpr std::uint64_t kFewestHomes = 64;

  CellTable(const Block& block, std::uint64_t homes, const StateMemory& memory)
      : block_(block),
        cells_(reinterpret_cast<Entry*>(block.data)),
        homes_(homes),
        hash_(memory.key_hash()),
        cells_per_turn_(memory.thresholds().cells_per_turn),
        exceeds_cache_(block.size_bytes > memory.thresholds().cached_cells_bytes),
        exceeds_first_level_cache_(block.size_bytes > memory.thresholds().first_level_cells_bytes) {}

  static std::uint64_t HomesFor(std::uint64_t keys) {
    const std::uint64_t fewest = std::max(keys + keys / 2, kFewestHomes);
    const std::uint64_t step = std::bit_floor(fewest) / 4;  // free memory is listed by size: there should be few sizes
    return (fewest + step - 1) / step * step;
  }

  static std::size_t Number(CellHome home) { return static_cast<std::size_t>(home); }

  static bool IsZero(const K& key) {
    constexpr std::array<std::byte, sizeof(K)> kZeros{};
    return std::memcmp(&key, kZeros.data(), sizeof(K)) == 0;
  }

  /// Keys that have cells at most: with few free ones, probes for keys without a cell would be long.
  std::uint64_t limit() const { return homes_ / 4 * 3; }

  Entry& ZeroEntry() const { return cells_[homes_ + kMostProbes]; }

  [[gnu::noinline]] V* InsertZero() {
    Entry& entry = ZeroEntry();
    if (!has_zero_) {
      new (&entry.value) V{};
      has_zero_ = true;
      ++size_;
    }
    return &entry.value;
  }

  /// The cell of a key that is not zero, or the free one that it would take; null if it has neither.
  [[gnu::always_inline]] Entry* Probe(CellHome home, const K& key) const {
    Entry* entry = &cells_[Number(home)];
    for (const Entry* const end = entry + kMostProbes; !(entry->key == key) && !IsZero(entry->key);) {
      if (++entry == end) [[unlikely]] {
        return nullptr;
      }
    }
    return entry;
  }

  Block block_;
  Entry* cells_ = nullptr;
  std::uint64_t homes_ = 0;  // cells that hashes point to; behind the last one are kMostProbes more
  KeyHash hash_;             // the run's, once there are cells
  std::uint64_t cells_per_turn_ = 1;
  std::uint32_t size_ = 0;
  bool has_zero_ = false;
  bool exceeds_cache_ = false;
  bool exceeds_first_level_cache_ = false;
};

}  // namespace glaive::state

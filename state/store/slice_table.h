// SliceTable: an executor's primary state for one window slice: a dense log of {key, value} entries and a growing hash
// index over it (paper section 7.2.1).
//
// Owned by one executor, used by its thread alone. Keys are found in groups: hash all, prefetch the index buckets,
// prefetch the entries that the tags point to, then update. So the cache misses of a group overlap, where a loop over
// single keys waits for each. State that fits the cache skips the prefetching, which would only cost.
//
//   1. A key has one entry.
//   2. Apply either applies its function to every item of the group, or returns an error that ends the run.
//   3. The texts of keys and values are in memory of the table's own.
//
//   auto table = SliceTable<std::uint64_t, CountValue>::Create(memory, expected_keys);
//   status = table->ApplyRun(memory, entries);   // updates or forms, see delta_entry.h
//   status = table->Apply(memory, items, [](CountValue& value, const auto& item) { value.Update({}); });
//   status = table->Apply(memory, items, apply, [&] { return initial; });   // the values of new keys
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "absl/status/status.h"

#include "rdma/base/check.h"
#include "rdma/base/prefetch.h"
#include "state/index/hash_index.h"
#include "state/index/key_hash.h"
#include "state/log/entry_log.h"
#include "state/log/state_memory.h"
#include "state/log/state_thresholds.h"
#include "state/log/text_log.h"
#include "state/log/value_texts.h"
#include "state/record/record.h"
#include "state/store/run_groups.h"
#include "state/store/table_counts.h"

namespace glaive::state {

template <StateKey K, typename V>
class SliceTable {
 public:
  struct Entry {
    K key;
    V value;
  };
  using Forecast = std::uint64_t;  // keys of the next slice
  static Forecast Both(Forecast a, Forecast b) { return std::max(a, b); }
  /// Whether such a forecast's table is best given its memory ahead (StateMemory::TouchSome).
  static bool IsOfMany(const StateThresholds& thresholds, Forecast forecast) {
    return forecast >= thresholds.many_keys;
  }

  /// An empty slice whose index is planned for `expected_keys`. ResourceExhausted past the budget.
  static absl::StatusOr<SliceTable> Create(StateMemory& memory, std::uint64_t expected_keys) {
    absl::StatusOr<HashIndex> index = HashIndex::Create(memory, expected_keys);
    if (!index.ok()) {
      return index.status();
    }
    SliceTable table;
    table.index_ = *index;
    table.cached_bytes_ = memory.thresholds().cached_log_bytes;
    return table;
  }

  /// Applies entries (delta_entry.h) to the values of their keys. ResourceExhausted past the budget.
  template <typename E>
  absl::Status ApplyRun(StateMemory& memory, std::span<const E> run) {
    const bool is_large = IsLarge();
    return ForEachGroup(
        memory.key_hash(), run,
        [&](std::uint64_t hash) {
          if (is_large) {
            index_.Prefetch(hash);
          }
        },
        [&](std::span<const RunItem<E>> group) { return ApplyPrefetched(memory, group, ApplyRunItem{}); });
  }

  /// Makes the value of a new key.
  struct DefaultValue {
    V operator()() const { return V{}; }
  };

  /// Calls `apply(value, item)` for each item on the value of its key, in order; if the key is new, on what `make()`
  /// returns. Items have `.hash` and `.key`, and there are at most kGroupSize of them. ResourceExhausted past the
  /// budget.
  template <typename Item, typename Applier, typename Make = DefaultValue>
  absl::Status Apply(StateMemory& memory, std::span<const Item> items, Applier&& apply, const Make& make = {}) {
    if (IsLarge()) {
      for (const Item& item : items) {
        index_.Prefetch(item.hash);
      }
    }
    return ApplyPrefetched(memory, items, apply, make);
  }

  /// Apply of items whose hashes a Prefetcher was called with.
  template <typename Item, typename Applier, typename Make = DefaultValue>
  absl::Status ApplyPrefetched(StateMemory& memory, std::span<const Item> items, Applier&& apply,
                               const Make& make = {}) {
    GLAIVE_CHECK(items.size() <= kGroupSize, "a group of ", items.size(), " items, at most ", kGroupSize);
    absl::Status status = Prepare(memory, items.size());
    status.Update(key_texts_.MakeRoomFor(memory, items));
    return status.ok() ? ApplyGroup(memory, items, apply, make) : status;
  }

  /// Apply of one item: calls `apply(value)`. Compiles to much less than a group, and costs each cache miss in full.
  template <typename Applier, typename Make = DefaultValue>
  absl::Status ApplyOne(StateMemory& memory, std::uint64_t hash, const K& key, Applier&& apply, const Make& make = {}) {
    absl::Status status = Prepare(memory, 1);
    status.Update(key_texts_.MakeRoom(memory, TextBytes(key)));
    if (!status.ok()) {
      return status;
    }
    const std::uint32_t known_entries = log_.size();
    Entry* entry = nullptr;
    status = FindOrAppend(memory, hash, key, make, entry);
    return status.ok() ? value_texts_.Change(memory, entry->value, AgeAfter(known_entries), apply) : status;
  }

  /// Starts loading what an update of a key with a given hash will need; of a table that nothing changes meanwhile.
  class Prefetcher {
   public:
    /// A table that fits the cache needs no help.
    explicit Prefetcher(const SliceTable& table) : index_(table.IsLarge() ? &table.index_ : nullptr) {}

    [[gnu::always_inline]] void operator()(std::uint64_t hash) const {
      if (index_ != nullptr) {
        index_->Prefetch(hash);
      }
    }

   private:
    const HashIndex* index_ = nullptr;
  };

  /// The entries from `first` to the end of a contiguous run; empty at the log's end.
  std::span<const Entry> Run(std::uint32_t first) const { return log_.Run(first); }

  /// Calls `visit(entry)`, which returns a status, for each entry, until one is not OK; returns that.
  template <typename Visit>
  absl::Status ForEach(Visit&& visit) const {
    for (std::uint32_t first = 0; first < size();) {
      const std::span<const Entry> run = Run(first);
      for (const Entry& entry : run) {
        if (absl::Status status = visit(entry); !status.ok()) {
          return status;
        }
      }
      first += static_cast<std::uint32_t>(run.size());
    }
    return absl::OkStatus();
  }

  /// The key's value, null if it has none. Costs a lookup alone, two cache misses where the table is large.
  V* Find(std::uint64_t hash, const K& key) {
    const std::uint32_t number = NumberOf(hash, key);
    return number == HashIndex::kNoEntry ? nullptr : &log_.At(number).value;
  }
  const V* Find(std::uint64_t hash, const K& key) const {
    const std::uint32_t number = NumberOf(hash, key);
    return number == HashIndex::kNoEntry ? nullptr : &log_.At(number).value;
  }

  /// The entry of a number below size().
  Entry& At(std::uint32_t number) { return log_.At(number); }

  /// Calls `change(value)` on a value of one of its entries, outside of Apply; the value may have texts of any memory
  /// then. ResourceExhausted past the budget.
  template <typename ChangeFn>
  absl::Status Change(StateMemory& memory, V& value, const ChangeFn& change) {
    return value_texts_.Change(memory, value, Age::kKnown, change);
  }

  /// Gives all memory back.
  void Release(StateMemory& memory) {
    index_.Release(memory);
    log_.Release(memory);
    key_texts_.Release(memory);
    value_texts_.Release(memory);
  }

  std::uint32_t size() const { return log_.size(); }
  Forecast forecast() const { return size(); }
  std::size_t size_bytes() const {
    return index_.size_bytes() + std::size_t{log_.size()} * sizeof(Entry) + key_texts_.size_bytes() +
           value_texts_.size_bytes();
  }
  TableCounts counts() const {
    return {.index_growths = index_.growths(), .index_touches = index_touches_, .prefetched_entries = prefetched_};
  }

 private:
  /// Where seven of eight updates since the last growth brought a new key, there are several times as many keys in all,
  /// if they are equally frequent.
  static constexpr std::uint64_t kManyMoreKeys = 8;

  std::uint32_t NumberOf(std::uint64_t hash, const K& key) const {
    return index_.Find(hash, [&](std::uint32_t entry) { return log_.At(entry).key == key; });
  }

  /// Whether it has outgrown the second-level cache; before that, prefetching costs more than it hides.
  bool IsLarge() const { return size_bytes() > cached_bytes_; }

  absl::Status Prepare(StateMemory& memory, std::size_t items) {
    if (absl::Status status = log_.MakeRoom(memory, static_cast<std::uint32_t>(items)); !status.ok()) {
      return status;
    }
    updates_ += items;
    if (index_.wants_to_grow()) [[unlikely]] {
      if (absl::Status status = StartGrowth(memory); !status.ok()) {
        return status;
      }
    }
    if (!index_.growing()) {
      return absl::OkStatus();
    }
    // The first few entries that move would take a page fault in each part of a larger index without pages.
    if (memory.has_untouched()) [[unlikely]] {
      memory.TouchSome(items * memory.thresholds().touched_bytes_per_update);
      ++index_touches_;
      return absl::OkStatus();
    }
    return Grow(memory, static_cast<std::uint32_t>(items) * HashIndex::kMovesPerUpdate);
  }

  /// Nearly only new keys so far mean that there are many more to come: then a large table skips some sizes, if that
  /// leaves as much memory again. Moving entries is a good part of what it costs to fill one.
  absl::Status StartGrowth(StateMemory& memory) {
    const std::uint64_t updates = std::exchange(updates_, 0);
    const std::uint64_t new_keys = size() - std::exchange(size_at_growth_, size());
    const bool mostly_new = updates > 0 && new_keys * kManyMoreKeys >= updates * (kManyMoreKeys - 1);
    const bool has_memory = 2 * kManyMoreKeys * index_.size_bytes() <= memory.limit_bytes() - memory.used_bytes();
    return index_.StartGrowth(memory, mostly_new && IsLarge() && has_memory ? kManyMoreKeys : 2);
  }

  absl::Status Grow(StateMemory& memory, std::uint32_t entries) {
    return index_.GrowSome(memory, entries, [&](std::uint32_t entry) { return memory.key_hash()(log_.At(entry).key); });
  }

  /// Guesses first, for the whole group, and only then writes: the first loop has no store that the compiler would have
  /// to reload the index's fields after, and its misses overlap. A wrong guess, or none, is looked up in full.
  template <typename Item, typename Applier, typename Make>
  absl::Status ApplyGroup(StateMemory& memory, std::span<const Item> items, Applier& apply, const Make& make) {
    const bool prefetches = IsLarge();
    prefetched_ += prefetches ? items.size() : 0;
    std::array<Entry*, kGroupSize> guesses;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::uint32_t guess = index_.Guess(items[i].hash);
      guesses[i] = guess == HashIndex::kNoEntry ? nullptr : &log_.At(guess);
      if (prefetches && guesses[i] != nullptr) {
        Prefetch(guesses[i]);
      }
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      Entry* entry = guesses[i];
      const std::uint32_t known_entries = log_.size();
      if (entry == nullptr || !(entry->key == items[i].key)) {
        // An earlier item of this group may have brought the same new key: this finds it.
        if (absl::Status status = FindOrAppend(memory, items[i].hash, items[i].key, make, entry); !status.ok()) {
          return status;
        }
      }
      absl::Status status =
          value_texts_.Change(memory, entry->value, AgeAfter(known_entries), [&](V& value) { apply(value, items[i]); });
      if (!status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  /// The age of an entry just found, where the log had `known_entries` before.
  Age AgeAfter(std::uint32_t known_entries) const { return log_.size() == known_entries ? Age::kKnown : Age::kNew; }

  /// Sets `entry` to the key's, appended if it is new.
  template <typename Make>
  [[gnu::always_inline]] absl::Status FindOrAppend(StateMemory& memory, std::uint64_t hash, const K& key,
                                                   const Make& make, Entry*& entry) {
    entry = TryFindOrAppend(hash, key, make);
    return entry != nullptr ? absl::OkStatus() : GrowFor(memory, hash, key, make, &entry);
  }

  /// The key's entry, appended if it is new; null when the index has to grow first.
  template <typename Make>
  [[gnu::always_inline]] Entry* TryFindOrAppend(std::uint64_t hash, const K& key, const Make& make) {
    const std::uint32_t number =
        index_.FindOrInsert(hash, [&](std::uint32_t entry) { return log_.At(entry).key == key; });
    if (number == HashIndex::kNoEntry) [[unlikely]] {
      return nullptr;
    }
    if (number == log_.size()) {
      log_.Append(Entry{.key = key_texts_.Own(key), .value = make()});
    }
    return &log_.At(number);
  }

  /// The rare case of an index without a free overflow bucket: grows it at once, then finds the entry.
  template <typename Make>
  [[gnu::noinline]] absl::Status GrowFor(StateMemory& memory, std::uint64_t hash, const K& key, const Make& make,
                                         Entry** entry) {
    for (int attempt = 0; attempt < 2 && *entry == nullptr; ++attempt) {
      if (!index_.growing()) {
        if (absl::Status status = StartGrowth(memory); !status.ok()) {
          return status;
        }
      }
      if (absl::Status status = Grow(memory, std::numeric_limits<std::uint32_t>::max()); !status.ok()) {
        return status;
      }
      *entry = TryFindOrAppend(hash, key, make);
    }
    return *entry != nullptr ? absl::OkStatus() : index_.OverflowError();
  }

  HashIndex index_;
  EntryLog<Entry> log_;
  [[no_unique_address]] TextLog<K> key_texts_;
  [[no_unique_address]] ValueTexts<V> value_texts_;
  std::uint64_t updates_ = 0;         // since the last growth
  std::uint32_t size_at_growth_ = 0;  // the last one
  std::uint64_t cached_bytes_ = 0;    // up to which it does without prefetching
  std::uint64_t prefetched_ = 0;      // items, whose buckets and entries were prefetched
  std::uint64_t index_touches_ = 0;   // groups of updates that gave a larger index pages
};

}  // namespace glaive::state

// WindowTable: an executor's primary state for one slice of tumbling windows: a log of {key, value} entries and an
// index over it, or, where the slice before has shown that keys come again and again, slots.
//
// Such windows only ever fold records in and are then read once, whole: nothing has to find an entry by its number.
//
// Owned by one executor, used by its thread alone.
//
//   1. A key has a slot or an entry in the log: one that found no slot never finds one (slot_table.h). It has both only
//      where its slot could not take all of its records (compact_form.h); ForEach brings them together.
//
//   auto table = WindowTable<std::uint64_t, SumValue<float>>::Create(memory, last_table.forecast());
//   status = table->Apply(memory, items, FoldRecord{});   // into a value, or into a slot's form
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/check.h"
#include "state/crdt/compact_form.h"
#include "state/index/key_hash.h"
#include "state/log/state_memory.h"
#include "state/store/slice_table.h"
#include "state/store/slot_table.h"

namespace glaive::state {

/// Whether a key and its value's compact form fit a cache line.
template <typename K, typename V>
inline constexpr bool kFitsSlots = sizeof(K) + sizeof(CompactForm<V>) <= 64;

template <StateKey K, typename V>
class WindowTable {
 public:
  using Log = SliceTable<K, V>;
  using Form = CompactForm<V>;
  using Slots = SlotTable<K, Form>;
  using Entry = typename Log::Entry;
  static constexpr bool kHasSlots = true;

  /// What slices let expect of the next one.
  struct Forecast {
    std::uint64_t keys = 0;  // or more, where a key has a slot and an entry of the log
    bool recurring = false;  // whether keys come so often that slots are worth it
    bool unfit = false;      // whether slots could not take too many of the records, in this slice or one before

    friend bool operator==(const Forecast&, const Forecast&) = default;
  };
  static Forecast Both(const Forecast& a, const Forecast& b) {
    return {.keys = std::max(a.keys, b.keys), .recurring = a.recurring || b.recurring, .unfit = a.unfit || b.unfit};
  }

  /// An empty slice for what is expected of it. ResourceExhausted past the budget.
  static absl::StatusOr<WindowTable> Create(StateMemory& memory, const Forecast& expected) {
    WindowTable table;
    table.unfit_ = expected.unfit;
    if (expected.recurring && !expected.unfit && IsWorthSlots(memory, expected.keys)) {
      // Without memory for them, the log may still live on what earlier slices have given back.
      if (absl::StatusOr<Slots> slots = Slots::Create(memory, expected.keys); slots.ok()) {
        table.slots_ = *slots;
      }
    }
    absl::StatusOr<Log> log = Log::Create(memory, table.slots_.empty() ? expected.keys : 0);
    if (!log.ok()) {
      table.slots_.Release(memory);
      return log.status();
    }
    table.log_ = *std::move(log);
    return table;
  }

  /// As SliceTable::Apply. `apply(form, item)` is called as well, and says whether the form took the item; if not, it
  /// has not changed.
  template <bool kPrefetched = false, typename Item, typename Applier>
  absl::Status Apply(StateMemory& memory, std::span<const Item> items, Applier&& apply) {
    GLAIVE_CHECK(items.size() <= kGroupSize, "a group of ", items.size(), " items, at most ", kGroupSize);
    updates_ += items.size();
    if (slots_.empty()) {
      return log_.template Apply<kPrefetched>(memory, items, apply);
    }
    if (!kPrefetched && slots_.exceeds_cache()) {
      for (const Item& item : items) {
        slots_.Prefetch(item.hash);
      }
    }
    std::array<Item, kGroupSize> without_slot;
    std::size_t count = 0;
    for (const Item& item : items) {
      Form* const form = slots_.FindOrInsert(item.hash, item.key);
      if (form == nullptr || !apply(*form, item)) [[unlikely]] {
        not_taken_ += form == nullptr ? 0 : 1;
        without_slot[count++] = item;
      }
    }
    return count == 0 ? absl::OkStatus() : log_.Apply(memory, std::span<const Item>(without_slot.data(), count), apply);
  }

  /// As SliceTable::Prefetcher.
  class Prefetcher {
   public:
    Prefetcher() = default;
    explicit Prefetcher(const WindowTable& table) : log_(table.log_), slots_(table.slots_) {}

    [[gnu::always_inline]] void operator()(std::uint64_t hash) const {
      if (!slots_.empty()) {
        slots_.Prefetch(hash);
      } else {
        log_(hash);
      }
    }

   private:
    typename Log::Prefetcher log_;
    Slots slots_;
  };

  /// Keys' slots, if there are any: updates of keys that have one may be made there, and are to be counted.
  const Slots& slots() const { return slots_; }
  void CountUpdates(std::size_t updates) { updates_ += updates; }

  /// Calls `visit(entry)`, which returns a status, for each key, until one is not OK; returns that. The entry's value
  /// has at least Result().
  template <typename Visit>
  absl::Status ForEach(Visit&& visit) const {
    absl::Status status =
        slots_.ForEach([&](const auto& slot) { return not_taken_ == 0 ? visit(slot) : visit(WholeOf(slot)); });
    return !status.ok() ? status : log_.ForEach([&](const Entry& entry) {
      return HasSlotAsWell(entry.key) ? absl::OkStatus() : visit(entry);
    });
  }

  /// Gives all memory back.
  void Release(StateMemory& memory) {
    slots_.Release(memory);
    log_.Release(memory);
  }

  Forecast forecast() const {
    return {.keys = size(),
            .recurring = size() > 0 && 2 * updates_ >= kUpdatesOfTwo * size(),
            .unfit = unfit_ || not_taken_ > kFewestOfUnfit + updates_ / kUpdatesOfUnfit};
  }
  /// Slots in use and entries of the log.
  std::uint64_t size() const { return std::uint64_t{slots_.size()} + log_.size(); }
  std::size_t size_bytes() const { return slots_.size_bytes() + log_.size_bytes(); }
  std::uint64_t index_growths() const { return log_.index_growths(); }

 private:
  /// From so many updates of two keys on, clearing and scanning an array that is at least a third empty costs less than
  /// slots save.
  static constexpr std::uint64_t kUpdatesOfTwo = 3;
  /// More than one update in so many that needs a slot and an entry of the log as well.
  static constexpr std::uint64_t kUpdatesOfUnfit = 64;
  static constexpr std::uint64_t kFewestOfUnfit = 1000;  // a few odd numbers say nothing
  /// Slots come beside the memory that earlier slices have taken for their logs, so they may take this part of what is
  /// left. Nor may they be so large that zeroing them in one go would hold up the executor for long.
  static constexpr std::uint64_t kPartOfMemory = 16;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  static bool IsWorthSlots(const StateMemory& memory, std::uint64_t keys) {
    const std::uint64_t left_bytes = memory.limit_bytes() - memory.used_bytes();
    return keys <= Slots::kMostKeys && Slots::BytesFor(keys) <= std::min(left_bytes / kPartOfMemory, kMostBytes);
  }

  /// A slot's key and all of its value.
  Entry WholeOf(const typename Slots::Entry& slot) const {
    Entry whole{.key = slot.key, .value = slot.value.Expanded()};
    if (const V* const rest = log_.Find(HashKey(slot.key), slot.key); rest != nullptr) {
      whole.value.Merge(*rest);
    }
    return whole;
  }

  /// Whether a key of the log has a slot as well.
  bool HasSlotAsWell(const K& key) const { return not_taken_ > 0 && slots_.Find(HashKey(key), key) != nullptr; }

  Slots slots_;
  Log log_;  // of keys without a slot, and of what slots did not take
  std::uint64_t updates_ = 0;
  std::uint64_t not_taken_ = 0;  // of them, by slots
  bool unfit_ = false;           // in an earlier slice
};

}  // namespace glaive::state

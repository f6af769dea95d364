// WindowTable: an executor's primary state for one slice of tumbling windows: a log of {key, value} entries and an
// index over it, or, where the slice before has shown that keys come again and again, slots.
//
// Such windows only ever fold records in and are then read once, whole: nothing has to find an entry by its number.
//
// Owned by one executor, used by its thread alone.
//
//   1. A key has one entry, in the slots or in the log: one that found no slot never finds one (slot_table.h).
//
//   auto table = WindowTable<std::uint64_t, CountValue>::Create(memory, last_table.forecast());
//   status = table->Apply(memory, items, [](CountValue& value, const auto& item) { value.Update({}); });
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
#include "state/index/key_hash.h"
#include "state/log/state_memory.h"
#include "state/store/slice_table.h"
#include "state/store/slot_table.h"

namespace glaive::state {

/// Whether a key and its value fit a cache line.
template <typename K, typename V>
inline constexpr bool kFitsSlots = sizeof(K) + sizeof(V) <= 64;

template <StateKey K, typename V>
class WindowTable {
 public:
  using Log = SliceTable<K, V>;
  using Slots = SlotTable<K, V>;
  using Entry = typename Log::Entry;
  static constexpr bool kHasSlots = true;

  /// What slices let expect of the next one.
  struct Forecast {
    std::uint64_t keys = 0;
    bool recurring = false;  // whether keys come so often that slots are worth it

    friend bool operator==(const Forecast&, const Forecast&) = default;
  };
  static Forecast Both(const Forecast& a, const Forecast& b) {
    return {.keys = std::max(a.keys, b.keys), .recurring = a.recurring || b.recurring};
  }

  /// An empty slice for what is expected of it. ResourceExhausted past the budget.
  static absl::StatusOr<WindowTable> Create(StateMemory& memory, const Forecast& expected) {
    WindowTable table;
    if (expected.recurring && IsWorthSlots(memory, expected.keys)) {
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

  /// As SliceTable::Apply.
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
      V* const value = slots_.FindOrInsert(item.hash, item.key);
      if (value != nullptr) [[likely]] {
        apply(*value, item);
      } else {
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

  /// Calls `visit(entry)`, which returns a status, for each key, until one is not OK; returns that.
  template <typename Visit>
  absl::Status ForEach(Visit&& visit) const {
    absl::Status status = slots_.ForEach(visit);
    return status.ok() ? log_.ForEach(visit) : status;
  }

  /// Gives all memory back.
  void Release(StateMemory& memory) {
    slots_.Release(memory);
    log_.Release(memory);
  }

  Forecast forecast() const {
    return {.keys = size(), .recurring = size() > 0 && updates_ >= kUpdatesOfRecurring * size()};
  }
  std::uint64_t size() const { return std::uint64_t{slots_.size()} + log_.size(); }
  std::size_t size_bytes() const { return slots_.size_bytes() + log_.size_bytes(); }
  std::uint64_t index_growths() const { return log_.index_growths(); }

 private:
  /// From so many updates of a key on, clearing and scanning an array that is at least a third empty costs less than
  /// slots save.
  static constexpr std::uint64_t kUpdatesOfRecurring = 4;
  /// Slots come beside the memory that earlier slices have taken for their logs, so they may take this part of what is
  /// left. Nor may they be so large that zeroing them in one go would hold up the executor for long.
  static constexpr std::uint64_t kPartOfMemory = 16;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  static bool IsWorthSlots(const StateMemory& memory, std::uint64_t keys) {
    const std::uint64_t left_bytes = memory.limit_bytes() - memory.used_bytes();
    return keys <= Slots::kMostKeys && Slots::BytesFor(keys) <= std::min(left_bytes / kPartOfMemory, kMostBytes);
  }

  Slots slots_;
  Log log_;  // of keys without a slot
  std::uint64_t updates_ = 0;
};

}  // namespace glaive::state

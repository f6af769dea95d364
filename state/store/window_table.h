// WindowTable: an executor's primary state for one slice of tumbling windows: a log of {key, value} entries and an
// index over it, or slots, where this slice or the one before has shown that keys come again and again.
//
// Such windows only ever fold records in and are then read once, whole: nothing has to find an entry by its number.
//
// Owned by one executor, used by its thread alone.
//
//   1. A key has a slot or an entry in the log: one that found no slot never finds one (slot_table.h). It has both only
//      where its slot could not take something (compact_form.h) and gave the log what it had; ForEach brings them
//      together.
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
    std::uint64_t keys = 0;
    bool recurring = false;  // whether keys come so often that slots are worth it
    bool unfit = false;      // whether slots had to give the log too much, in this slice or one before

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
    if (!slots_.empty()) {
      return ApplyToSlots<kPrefetched>(memory, items, apply);
    }
    absl::Status status = log_.template Apply<kPrefetched>(memory, items, apply);
    return updates_ < next_look_ || !status.ok() ? status : ConsiderSlots(memory);
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
        slots_.ForEach([&](const auto& slot) { return shared_ == 0 ? visit(slot) : visit(WholeOf(slot)); });
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
            .unfit = unfit_ || given_ > kFewestOfUnfit + updates_ / kUpdatesOfUnfit};
  }
  /// Keys.
  std::uint64_t size() const { return std::uint64_t{slots_.size()} + log_.size() - shared_; }
  std::size_t size_bytes() const { return slots_.size_bytes() + log_.size_bytes(); }
  std::uint64_t index_growths() const { return log_.index_growths(); }

 private:
  /// From so many updates of two keys on, clearing and scanning an array that is at least a third empty costs less than
  /// slots save.
  static constexpr std::uint64_t kUpdatesOfTwo = 3;
  /// So many updates of a key let slots be worth the move from the log, once hardly any update in so many brings a new
  /// key: slots do not grow.
  static constexpr std::uint64_t kUpdatesOfMove = 4;
  static constexpr std::uint64_t kUpdatesOfNewKey = 16;
  static constexpr std::uint64_t kUpdatesBetweenLooks = 4096;
  /// More than one update in so many at which a slot has to give what it has to the log.
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

  /// A value on its way to another place of its key.
  struct Moved {
    std::uint64_t hash;
    K key;
    V value;
  };
  struct FoldMoved {
    void operator()(V& value, const Moved& moved) const { value.Merge(moved.value); }
    bool operator()(Form& form, const Moved& moved) const { return form.TryMerge(moved.value); }
  };

  template <bool kPrefetched, typename Item, typename Applier>
  absl::Status ApplyToSlots(StateMemory& memory, std::span<const Item> items, Applier& apply) {
    if (!kPrefetched && slots_.exceeds_cache()) {
      for (const Item& item : items) {
        slots_.Prefetch(item.hash);
      }
    }
    std::array<Item, kGroupSize> for_log;
    std::array<Moved, kGroupSize> given;
    std::size_t for_log_count = 0;
    std::size_t given_count = 0;
    for (const Item& item : items) {
      Form* const form = slots_.FindOrInsert(item.hash, item.key);
      if (form != nullptr && apply(*form, item)) [[likely]] {
        continue;
      }
      if (form != nullptr) {
        given[given_count++] = {.hash = item.hash, .key = item.key, .value = form->Expanded()};
        *form = Form{};
      }
      if (form == nullptr || !apply(*form, item)) {
        for_log[for_log_count++] = item;
      }
    }
    if (given_count > 0) [[unlikely]] {
      if (absl::Status status = Give(memory, std::span<const Moved>(given).first(given_count)); !status.ok()) {
        return status;
      }
    }
    return for_log_count == 0 ? absl::OkStatus()
                              : log_.Apply(memory, std::span<const Item>(for_log).first(for_log_count), apply);
  }

  /// Merges what slots had into the log.
  [[gnu::noinline]] absl::Status Give(StateMemory& memory, std::span<const Moved> given) {
    const std::uint64_t entries = log_.size();
    given_ += given.size();
    absl::Status status = log_.Apply(memory, given, FoldMoved{});
    shared_ += log_.size() - entries;
    return status;
  }

  /// Moves the log's entries to slots if its keys have recurred so often that this pays even if none does again: once,
  /// since later slices have slots from the start.
  [[gnu::noinline]] absl::Status ConsiderSlots(StateMemory& memory) {
    const std::uint64_t updates = updates_ - std::exchange(last_look_, updates_);
    const std::uint64_t new_keys = log_.size() - std::exchange(keys_at_look_, log_.size());
    next_look_ = updates_ + std::max(updates_ / 4, kUpdatesBetweenLooks);
    const std::uint64_t keys = log_.size() + log_.size() / 8;  // some more will come
    if (unfit_ || updates_ < kUpdatesOfMove * log_.size() || updates < kUpdatesOfNewKey * new_keys ||
        !IsWorthSlots(memory, keys)) {
      return absl::OkStatus();
    }
    absl::StatusOr<Log> log = Log::Create(memory, 0);
    absl::StatusOr<Slots> slots = log.ok() ? Slots::Create(memory, keys) : log.status();
    if (!slots.ok()) {  // the log still has room
      if (log.ok()) {
        log->Release(memory);
      }
      return absl::OkStatus();
    }
    slots_ = *slots;
    Log entries = std::exchange(log_, *std::move(log));
    absl::Status status = MoveToSlots(memory, entries);
    entries.Release(memory);
    given_ = 0;  // sums of so many records say nothing about records
    return status;
  }

  absl::Status MoveToSlots(StateMemory& memory, const Log& entries) {
    std::array<Moved, kGroupSize> group;
    std::size_t count = 0;
    absl::Status status = entries.ForEach([&](const Entry& entry) {
      group[count++] = {.hash = HashKey(entry.key), .key = entry.key, .value = entry.value};
      return count < group.size() ? absl::OkStatus()
                                  : MoveGroup(memory, std::span(group).first(std::exchange(count, 0)));
    });
    return status.ok() ? MoveGroup(memory, std::span(group).first(count)) : status;
  }

  absl::Status MoveGroup(StateMemory& memory, std::span<const Moved> group) {
    FoldMoved fold;
    return ApplyToSlots</*kPrefetched=*/false>(memory, group, fold);
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
  bool HasSlotAsWell(const K& key) const { return shared_ > 0 && slots_.Find(HashKey(key), key) != nullptr; }

  Slots slots_;
  Log log_;  // of keys without a slot, and of what slots have given it
  std::uint64_t updates_ = 0;
  std::uint64_t last_look_ = 0;  // how many of them there were when the log was last looked at
  std::uint64_t next_look_ = kUpdatesBetweenLooks;
  std::uint64_t keys_at_look_ = 0;
  std::uint64_t given_ = 0;   // how often a slot has given the log what it had
  std::uint64_t shared_ = 0;  // keys that have a slot and an entry of the log
  bool unfit_ = false;        // in an earlier slice
};

}  // namespace glaive::state

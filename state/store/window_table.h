// WindowTable: an executor's primary state for one slice of tumbling windows: a log of {key, value} entries and an
// index over it, or slots, where this slice or the one before has shown that keys come again and again.
//
// Such windows only ever fold records in and are then read once, whole: nothing has to find an entry by its number.
//
// Owned by one executor, used by its thread alone.
//
//   1. A key has a slot or an entry in the log: one that found no slot never finds one (slot_table.h). It has both only
//      where its slot could not take something (compact_form.h); ForEach brings them together.
//
//   auto table = WindowTable<std::uint64_t, SumValue<float>>::Create(memory, last_table.forecast());
//   status = table->Apply(memory, items, FoldRecord{});   // into a value, or into a slot's form
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/check.h"
#include "state/crdt/compact_form.h"
#include "state/index/key_hash.h"
#include "state/log/state_memory.h"
#include "state/store/slice_table.h"
#include "state/store/slot_table.h"
#include "state/store/staged_update.h"

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
    bool unfit = false;      // whether slots refused too many records, in this slice or one before

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
  absl::Status Apply(StateMemory& memory, std::span<const Item> items, const Applier& apply) {
    GLAIVE_CHECK(items.size() <= kGroupSize, "a group of ", items.size(), " items, at most ", kGroupSize);
    updates_ += items.size();
    deltas_ += kIsRecord<Applier> ? 0 : items.size();
    if (!slots_.empty()) {
      return ApplyToSlots<kPrefetched>(memory, items, apply);
    }
    absl::Status status = log_.template Apply<kPrefetched>(memory, items, apply);
    return updates_ < look_.next_updates || !status.ok() ? status : ConsiderSlots(memory);
  }

  /// As SliceTable::Prefetcher.
  class Prefetcher {
   public:
    Prefetcher() = default;
    explicit Prefetcher(const WindowTable& table) : log_(table.log_), slots_(table.slots_) {}

    [[gnu::always_inline]] void operator()(std::uint64_t hash) const {
      if (!slots_.empty()) {
        slots_.Prefetch(slots_.HomeOf(hash));
      } else {
        log_(hash);
      }
    }

   private:
    typename Log::Prefetcher log_;
    Slots slots_;
  };

  /// Keys' slots, if there are any. Updates may be made in a copy, which is to be put back with their number.
  const Slots& slots() const { return slots_; }
  void PutBack(const Slots& slots, std::size_t updates) {
    GLAIVE_CHECK(slots.size() >= slots_.size(), "slots of ", slots.size(), " keys would take the place of ",
                 slots_.size());
    slots_ = slots;
    updates_ += updates;
  }

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
            .unfit = unfit_ || refused_records_ > kFewestOfUnfit + (updates_ - deltas_) / kItemsOfUnfit};
  }
  /// Keys.
  std::uint64_t size() const { return std::uint64_t{slots_.size()} + log_.size() - shared_; }
  std::size_t size_bytes() const { return slots_.size_bytes() + log_.size_bytes(); }
  std::uint64_t index_growths() const { return earlier_growths_ + log_.index_growths(); }

 private:
  /// From so many updates of two keys on, clearing and scanning an array that is a third to a half empty costs less
  /// than slots save.
  static constexpr std::uint64_t kUpdatesOfTwo = 3;
  /// So many updates of a key are worth the move from the log to slots, which takes as long as half an update, once at
  /// most one key in so many is new since the last look: slots do not grow.
  static constexpr std::uint64_t kUpdatesOfMove = 2;
  static constexpr std::uint64_t kKeysOfNewKey = 16;
  static constexpr std::uint64_t kUpdatesBetweenLooks = 4096;
  /// The move is done in one go: about 20 ms for so many slots that take what they are given.
  static constexpr std::size_t kMostBytesOfMove = std::size_t{32} << 20;
  /// Slots are unfit if they refuse more than one in so many: of the executor's own records, since deltas are sums of
  /// many; before a move, of the log's first values.
  static constexpr std::uint64_t kItemsOfUnfit = 64;
  static constexpr std::uint64_t kValuesTried = 1024;
  static constexpr std::uint64_t kFewestOfUnfit = 1000;  // a few odd numbers say nothing
  /// Slots come beside the memory that earlier slices have taken for their logs, so they may take this part of what is
  /// left. Nor may they be so large that zeroing them in one go would hold up the executor for long.
  static constexpr std::uint64_t kPartOfMemory = 16;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  static bool IsWorthSlots(const StateMemory& memory, std::uint64_t keys) {
    const std::uint64_t left_bytes = memory.limit_bytes() - memory.used_bytes();
    return keys <= Slots::kMostKeys && Slots::BytesFor(keys) <= std::min(left_bytes / kPartOfMemory, kMostBytes);
  }

  template <typename Applier>
  static constexpr bool kIsRecord = std::is_same_v<Applier, FoldRecord>;

  /// What the log was like when it was last considered to move it to slots.
  struct Look {
    std::uint64_t keys = 0;
    std::uint64_t next_updates = kUpdatesBetweenLooks;  // after how many it is to be considered again
  };

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
  absl::Status ApplyToSlots(StateMemory& memory, std::span<const Item> items, const Applier& apply) {
    if (!kPrefetched && slots_.exceeds_cache()) {
      for (const Item& item : items) {
        slots_.Prefetch(slots_.HomeOf(item.hash));
      }
    }
    std::array<Item, kGroupSize> for_log;
    std::size_t for_log_count = 0;
    for (const Item& item : items) {
      Form* const form = slots_.FindOrInsert(slots_.HomeOf(item.hash), item.key);
      if (form == nullptr) {
        for_log[for_log_count++] = item;
      } else if (!apply(*form, item)) [[unlikely]] {
        if (absl::Status status = ApplyRefused(memory, *form, item, apply); !status.ok()) {
          return status;
        }
      }
    }
    return for_log_count == 0 ? absl::OkStatus()
                              : log_.Apply(memory, std::span<const Item>(for_log).first(for_log_count), apply);
  }

  /// Applies what a slot's form did not take: to the form, which begins anew once the log has what it had, or to the
  /// log if no form takes that.
  template <typename Item, typename Applier>
  [[gnu::noinline]] absl::Status ApplyRefused(StateMemory& memory, Form& form, const Item& item, const Applier& apply) {
    refused_records_ += kIsRecord<Applier> ? 1 : 0;
    const std::uint64_t entries = log_.size();
    absl::Status status;
    if (Form anew; apply(anew, item)) {
      const Moved had{.hash = item.hash, .key = item.key, .value = form.Expanded()};
      form = anew;
      status = log_.Apply(memory, std::span(&had, 1), FoldMoved{});
    } else {
      status = log_.Apply(memory, std::span(&item, 1), apply);
    }
    shared_ += log_.size() - entries;
    return status;
  }

  /// Moves the log's entries to slots if its keys recur. Once: later slices have slots from the start, and where a key
  /// is to be found does not change while a slice has slots.
  [[gnu::noinline]] absl::Status ConsiderSlots(StateMemory& memory) {
    const std::uint64_t keys = log_.size();
    const std::uint64_t new_keys = keys - look_.keys;
    look_ = {.keys = keys, .next_updates = updates_ + std::max(updates_ / 4, kUpdatesBetweenLooks)};
    const std::uint64_t expected_keys = keys + keys / 8;  // some more will come
    if (unfit_ || updates_ < kUpdatesOfMove * keys || kKeysOfNewKey * new_keys > keys ||
        !IsWorthSlots(memory, expected_keys) || Slots::BytesFor(expected_keys) > kMostBytesOfMove || !LogFitsSlots()) {
      return absl::OkStatus();
    }
    absl::StatusOr<Log> log = Log::Create(memory, 0);
    absl::StatusOr<Slots> slots = log.ok() ? Slots::Create(memory, expected_keys) : log.status();
    if (!slots.ok()) {  // the log still has room
      if (log.ok()) {
        log->Release(memory);
      }
      return absl::OkStatus();
    }
    slots_ = *slots;
    Log entries = std::exchange(log_, *std::move(log));
    earlier_growths_ = entries.index_growths();
    absl::Status status = MoveToSlots(memory, entries);
    entries.Release(memory);
    return status;
  }

  /// Whether slots would take nearly all of the log's values, going by the first ones.
  bool LogFitsSlots() const {
    std::uint64_t tried = 0;
    std::uint64_t refused = 0;
    const absl::Status enough = absl::CancelledError("enough values were tried");
    log_.ForEach([&](const Entry& entry) {
          refused += Form().TryMerge(entry.value) ? 0 : 1;
          return ++tried < kValuesTried ? absl::OkStatus() : enough;
        })
        .IgnoreError();
    return refused <= tried / kItemsOfUnfit;
  }

  absl::Status MoveToSlots(StateMemory& memory, const Log& entries) {
    std::array<Moved, kGroupSize> group;
    std::size_t count = 0;
    const auto move = [&] {
      return ApplyToSlots</*kPrefetched=*/false>(memory, std::span<const Moved>(group).first(std::exchange(count, 0)),
                                                 FoldMoved{});
    };
    absl::Status status = entries.ForEach([&](const Entry& entry) {
      group[count++] = {.hash = HashKey(entry.key), .key = entry.key, .value = entry.value};
      return count < group.size() ? absl::OkStatus() : move();
    });
    return status.ok() ? move() : status;
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
  bool HasSlotAsWell(const K& key) const {
    return shared_ > 0 && slots_.Find(slots_.HomeOf(HashKey(key)), key) != nullptr;
  }

  Slots slots_;
  Log log_;  // of keys without a slot, and of what slots did not take or no longer have
  std::uint64_t updates_ = 0;
  std::uint64_t deltas_ = 0;           // of these, those that are no records of this executor
  Look look_;                          // the last one
  std::uint64_t earlier_growths_ = 0;  // of the log that was moved to slots
  std::uint64_t refused_records_ = 0;  // of this executor, by slots
  std::uint64_t shared_ = 0;           // keys that have a slot and an entry of the log
  bool unfit_ = false;                 // in an earlier slice
};

}  // namespace glaive::state

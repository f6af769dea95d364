// WindowTable: an executor's primary state for one slice of windows that do not slide. It is a log of {key, value}
// entries with an index, or cells if keys have recurred in this slice or in the one before.
//
// Such slices fold records and are then read once, as a whole. So no entry has to be found by its number.
//
// Owned by one executor, used by its thread alone.
//
//   1. A key has a cell or an entry in the log. A key that found no cell never finds one (cell_table.h). It has both
//      only if its cell has refused an update (compact_form.h); ForEach merges them.
//   2. While the log's entries move to cells, some with each ApplyRun, a key may have a cell and an entry that has not
//      been moved yet. All have to be moved before ForEach.
//
//   auto table = WindowTable<std::uint64_t, SumValue<float>>::Create(memory, last_table.forecast());
//   status = table->ApplyRun(memory, entries);   // updates or forms, see delta_entry.h
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
#include "rdma/base/every.h"
#include "state/crdt/compact_form.h"
#include "state/index/key_hash.h"
#include "state/log/state_memory.h"
#include "state/log/text_log.h"
#include "state/record/record.h"
#include "state/store/cell_table.h"
#include "state/store/delta_entry.h"
#include "state/store/folders.h"
#include "state/store/run_groups.h"
#include "state/store/slice_table.h"
#include "state/store/table_counts.h"

namespace glaive::state {

template <StateKey K, typename V>
class WindowTable {
 public:
  using Log = SliceTable<K, V>;
  using Form = CompactForm<V>;
  using Cells = CellTable<K, Form>;
  using Entry = typename Log::Entry;

  /// What slices let expect of the next one.
  struct Forecast {
    std::uint64_t keys = 0;
    bool recurring = false;  // whether keys come so often that cells are worth it
    bool unfit = false;      // whether cells refused too many records, in this slice or one before

    friend bool operator==(const Forecast&, const Forecast&) = default;
  };
  static Forecast Both(const Forecast& a, const Forecast& b) {
    return {.keys = std::max(a.keys, b.keys), .recurring = a.recurring || b.recurring, .unfit = a.unfit || b.unfit};
  }
  /// Of the log and of cells, which are larger than the log's index.
  static bool IsOfMany(const StateThresholds& thresholds, const Forecast& forecast) {
    return Log::IsOfMany(thresholds, forecast.keys);
  }

  /// An empty slice for what is expected of it. ResourceExhausted past the budget.
  static absl::StatusOr<WindowTable> Create(StateMemory& memory, const Forecast& expected) {
    WindowTable table(memory.thresholds());
    table.unfit_ = expected.unfit;
    if (expected.recurring && !expected.unfit && IsWorthCells(memory, expected.keys)) {
      // Without memory for them, the log may still live on what earlier slices have given back.
      if (absl::StatusOr<Cells> cells = Cells::Create(memory, expected.keys); cells.ok()) {
        table.cells_ = *cells;
        table.counts_.cell_slices = 1;
      }
    }
    absl::StatusOr<Log> log = Log::Create(memory, table.cells_.empty() ? expected.keys : 0);
    if (!log.ok()) {
      table.cells_.Release(memory);
      return log.status();
    }
    table.log_ = *std::move(log);
    return table;
  }

  /// Applies entries (delta_entry.h) to the values of their keys, or to their cells' forms. ResourceExhausted past the
  /// budget.
  template <typename E>
  absl::Status ApplyRun(StateMemory& memory, std::span<const E> run) {
    updates_ += run.size();
    deltas_ += kIsUpdate<E> ? 0 : run.size();
    if (moving()) {
      if (absl::Status status = MoveSome(memory, std::max<std::uint64_t>(2 * run.size(), thresholds_->fewest_moved));
          !status.ok()) {
        return status;
      }
    }
    if (!cells_.empty()) {
      return cells_.exceeds_first_level_cache() ? ApplyToCells<true>(memory, run) : ApplyToCells<false>(memory, run);
    }
    absl::Status status = log_.ApplyRun(memory, run);
    return updates_ < review_.next_updates || !status.ok() ? status : ConsiderCells(memory);
  }

  /// Whether entries of the log are on their way to cells.
  bool moving() const { return moving_.size() > 0; }
  /// Moves `entries` of them at most. ResourceExhausted past the budget.
  absl::Status MoveSome(StateMemory& memory, std::size_t entries) {
    absl::Status status;
    for (; entries > 0 && moved_ < moving_.size() && status.ok(); --entries) {
      status = MoveToCell(memory, moving_.At(moved_++));
    }
    if (moved_ == moving_.size()) {
      moving_.Release(memory);
    }
    return status;
  }

  /// Whether it has a folder.
  bool has_folder() const { return !cells_.empty() && !moving(); }
  /// Calls `use(folder)` with a folder (folders.h) for records of this slice; `use` returns the folder.
  template <typename UseFn>
  void UseFolder(const UseFn& use) {
    GLAIVE_CHECK(has_folder(), "no folder for a slice whose table has no cells, or entries on their way to cells");
    if (cells_.exceeds_cache()) {
      const auto folder = use(CellFolder<K, V, /*kOutsideCache=*/true>(cells_));
      cells_ = folder.cells();
      updates_ += folder.folded();
      counts_.folded_ahead += folder.folded();
    } else {
      updates_ += FoldIntoCells<K, V>(cells_, use);
    }
  }

  /// Keys' cells, if there are any.
  const Cells& cells() const { return cells_; }

  /// Calls `visit(entry)`, which returns a status, for each key, until one is not OK; returns that. The entry's value
  /// has at least Result(). Calls `pause()` now and then. The table must not be moving().
  template <typename Visit, typename Pause = NoPause>
  absl::Status ForEach(Visit&& visit, Pause&& pause = {}) const {
    GLAIVE_CHECK(!moving(), moving_.size() - moved_, " entries have not been moved");
    absl::Status status =
        cells_.ForEach([&](const auto& cell) { return shared_ == 0 ? visit(cell) : visit(WholeOf(cell)); }, pause);
    Every turn(thresholds_->entries_per_turn);
    return !status.ok() ? status : log_.ForEach([&](const Entry& entry) {
      if (!HasCellAsWell(entry.key)) {
        return visit(entry);
      }
      if (turn.Step()) {
        pause();
      }
      return absl::OkStatus();
    });
  }

  /// Gives all memory back.
  void Release(StateMemory& memory) {
    cells_.Release(memory);
    cell_texts_.Release(memory);
    log_.Release(memory);
    moving_.Release(memory);
  }

  Forecast forecast() const {
    return {.keys = size(),
            .recurring = size() > 0 && 2 * updates_ >= kUpdatesOfTwo * size(),
            .unfit = unfit_ || CellsAreUnfit()};
  }
  /// Keys. While entries move, those that have a cell already count twice until they are moved.
  std::uint64_t size() const {
    return std::uint64_t{cells_.size()} + log_.size() - shared_ + (moving() ? moving_.size() - moved_ : 0);
  }
  std::size_t size_bytes() const {
    return cells_.size_bytes() + cell_texts_.size_bytes() + log_.size_bytes() + moving_.size_bytes();
  }
  TableCounts counts() const {
    TableCounts counts = counts_;
    counts += log_.counts();
    counts.unfit_cells += !unfit_ && CellsAreUnfit() ? 1 : 0;
    return counts;
  }

 private:
  /// From so many updates of two keys on, clearing and scanning an array that is a third to a half empty costs less
  /// than cells save.
  static constexpr std::uint64_t kUpdatesOfTwo = 3;
  /// So many updates of a key are worth the move from the log to cells, which takes as long as half an update, once at
  /// most one key in so many is new since the last review: cells do not grow.
  static constexpr std::uint64_t kUpdatesOfMove = 2;
  static constexpr std::uint64_t kKeysOfNewKey = 16;
  /// Cells are unfit if they refuse more than one in so many: of the executor's own records, since deltas are sums of
  /// many; before a move, of the log's first values.
  static constexpr std::uint64_t kItemsOfUnfit = 64;
  /// Cells come beside the memory that earlier slices have taken for their logs, so they may take this part of what is
  /// left. Nor may they be so large that zeroing them in one go would hold up the executor for long.
  static constexpr std::uint64_t kPartOfMemory = 16;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  static bool IsWorthCells(const StateMemory& memory, std::uint64_t keys) {
    const std::uint64_t left_bytes = memory.limit_bytes() - memory.used_bytes();
    return keys <= Cells::kMostKeys && Cells::BytesFor(keys) <= std::min(left_bytes / kPartOfMemory, kMostBytes);
  }

  template <typename E>
  static constexpr bool kIsUpdate = E::kKind == DeltaKind::kUpdate;
  /// What the log was like when it was last considered to move it to cells.
  struct Review {
    std::uint64_t keys = 0;
    std::uint64_t next_updates = 0;  // after how many it is to be considered again
  };

  /// `thresholds` outlive the table.
  explicit WindowTable(const StateThresholds& thresholds)
      : review_({.next_updates = thresholds.updates_between_reviews}), thresholds_(&thresholds) {}

  bool CellsAreUnfit() const {
    return refused_records_ > thresholds_->refused_records_allowed + (updates_ - deltas_) / kItemsOfUnfit;
  }

  template <bool kPrefetches, typename E>
  absl::Status ApplyToCells(StateMemory& memory, std::span<const E> run) {
    std::array<CellHome, kCellsAhead + kCellChunk> homes;  // a ring
    std::array<const E*, kGroupSize> refused;
    std::size_t refused_count = 0;
    Cells cells = cells_;  // a copy: its fields need not be read again after each update
    counts_.prefetched_entries += kPrefetches ? run.size() : 0;
    absl::Status status = cell_texts_.MakeRoomFor(memory, run);
    if (!status.ok()) {
      return status;
    }
    const auto locate = [&](std::size_t first) {
      for (std::size_t i = first; i < std::min(first + kCellChunk, run.size()); ++i) {
        const CellHome home = cells.HomeOf(run[i].key);
        if constexpr (kPrefetches) {
          cells.Prefetch(home);
        }
        homes[i % homes.size()] = home;
      }
    };
    for (std::size_t first = 0; kPrefetches && first < kCellsAhead; first += kCellChunk) {
      locate(first);
    }
    for (std::size_t first = 0; first < run.size(); first += kCellChunk) {
      locate(kPrefetches ? first + kCellsAhead : first);
      for (std::size_t i = first; i < std::min(first + kCellChunk, run.size()); ++i) {
        Form* const form = cells.FindOrInsert(homes[i % homes.size()], run[i].key, cell_texts_);
        if (form == nullptr || !ApplyEntry{}(*form, run[i])) [[unlikely]] {
          refused[refused_count++] = &run[i];
        }
      }
      if (refused_count > refused.size() - kCellChunk) {
        status.Update(ApplyRefused(memory, cells, std::span<const E* const>(refused).first(refused_count)));
        refused_count = 0;
      }
    }
    status.Update(ApplyRefused(memory, cells, std::span<const E* const>(refused).first(refused_count)));
    cells_ = cells;
    return status;
  }

  /// Takes entries of keys that have no cell, or whose cell's form did not take them.
  template <typename E>
  [[gnu::noinline]] absl::Status ApplyRefused(StateMemory& memory, const Cells& cells,
                                              std::span<const E* const> entries) {
    std::array<RunItem<E>, kGroupSize> for_log;
    std::size_t for_log_count = 0;
    absl::Status status;
    for (const E* entry : entries) {
      const RunItem<E> item{.hash = memory.key_hash()(entry->key), .key = entry->key, .entry = entry};
      if (Form* const form = cells.Find(cells.HomeOf(entry->key), entry->key); form != nullptr) {
        status.Update(Replace(memory, *form, item));
      } else {
        refused_records_ += kIsUpdate<E> && !cells.full() ? 1 : 0;  // keys that fall together leave no cell to probe
        for_log[for_log_count++] = item;
      }
    }
    if (for_log_count > 0) {
      counts_.cell_overflows += for_log_count;
      status.Update(log_.Apply(memory, std::span<const RunItem<E>>(for_log).first(for_log_count), ApplyRunItem{}));
    }
    return status;
  }

  /// Applies what a cell's form did not take: to the form, which begins anew once the log has what it had, or to the
  /// log if no form takes that.
  template <typename E>
  absl::Status Replace(StateMemory& memory, Form& form, const RunItem<E>& item) {
    if (ApplyEntry{}(form, *item.entry)) {  // an entry before it has made room
      return absl::OkStatus();
    }
    refused_records_ += kIsUpdate<E> ? 1 : 0;
    const std::uint64_t entries = log_.size();
    absl::Status status;
    if (Form anew; ApplyEntry{}(anew, *item.entry)) {
      const V had = form.Expanded();
      form = anew;
      ++counts_.replaced_forms;
      status = MergeIntoLog(memory, item.hash, item.key, had);
    } else {
      ++counts_.cell_overflows;
      status = log_.ApplyOne(memory, item.hash, item.key, [&](V& value) { ApplyRunItem{}(value, item); });
    }
    shared_ += log_.size() - entries;
    return status;
  }

  /// Begins to move the log's entries to cells if its keys recur. Once: later slices have cells from the start.
  [[gnu::noinline]] absl::Status ConsiderCells(StateMemory& memory) {
    const std::uint64_t keys = log_.size();
    const std::uint64_t new_keys = keys - review_.keys;
    review_ = {.keys = keys, .next_updates = updates_ + std::max(updates_ / 4, thresholds_->updates_between_reviews)};
    const std::uint64_t expected_keys = keys + keys / 8;  // some more will come
    if (unfit_ || updates_ < kUpdatesOfMove * keys || kKeysOfNewKey * new_keys > keys ||
        !IsWorthCells(memory, expected_keys) || !LogFitsCells()) {
      return absl::OkStatus();
    }
    absl::StatusOr<Log> log = Log::Create(memory, 0);
    absl::StatusOr<Cells> cells = log.ok() ? Cells::Create(memory, expected_keys) : log.status();
    if (!cells.ok()) {  // the log still has room
      if (log.ok()) {
        log->Release(memory);
      }
      return absl::OkStatus();
    }
    cells_ = *cells;
    moving_ = std::exchange(log_, *std::move(log));
    counts_ += moving_.counts();
    ++counts_.cell_moves;
    return absl::OkStatus();
  }

  /// Whether cells would take nearly all of the log's values, going by the first ones.
  bool LogFitsCells() const {
    std::uint64_t tried = 0;
    std::uint64_t refused = 0;
    const absl::Status enough = absl::CancelledError("enough values were tried");
    log_.ForEach([&](const Entry& entry) {
          refused += Form().TryMerge(entry.value) ? 0 : 1;
          return ++tried < thresholds_->values_tried ? absl::OkStatus() : enough;
        })
        .IgnoreError();
    return refused <= tried / kItemsOfUnfit;
  }

  /// Merges an entry's value into its key's cell, or into the log if there is no cell or no form takes it.
  absl::Status MoveToCell(StateMemory& memory, const Entry& entry) {
    if (absl::Status status = cell_texts_.MakeRoom(memory, TextBytes(entry.key)); !status.ok()) {
      return status;
    }
    Form* const form = cells_.FindOrInsert(cells_.HomeOf(entry.key), entry.key, cell_texts_);
    if (form != nullptr && form->TryMerge(entry.value)) [[likely]] {
      return absl::OkStatus();
    }
    ++counts_.cell_overflows;
    const std::uint64_t entries = log_.size();
    absl::Status status = MergeIntoLog(memory, memory.key_hash()(entry.key), entry.key, entry.value);
    shared_ += form == nullptr ? 0 : log_.size() - entries;
    return status;
  }

  [[gnu::noinline]] absl::Status MergeIntoLog(StateMemory& memory, std::uint64_t hash, const K& key, const V& more) {
    return log_.ApplyOne(memory, hash, key, [&](V& value) { value.Merge(more); });
  }

  /// A cell's key and all of its value.
  Entry WholeOf(const typename Cells::Entry& cell) const {
    Entry whole{.key = cell.key, .value = cell.value.Expanded()};
    if (const V* const rest = log_.Find(cells_.key_hash()(cell.key), cell.key); rest != nullptr) {
      whole.value.Merge(*rest);
    }
    return whole;
  }

  /// Whether a key of the log has a cell as well.
  bool HasCellAsWell(const K& key) const { return shared_ > 0 && cells_.Find(cells_.HomeOf(key), key) != nullptr; }

  Cells cells_;
  [[no_unique_address]] TextLog<K> cell_texts_;  // of the keys in cells
  Log log_;  // of keys without a cell, and of what cells did not take or no longer have
  std::uint64_t updates_ = 0;
  std::uint64_t deltas_ = 0;           // of these, those that are no records of this executor
  Review review_;                      // the last one
  Log moving_;                         // entries on their way to cells
  std::uint32_t moved_ = 0;            // of these
  std::uint64_t refused_records_ = 0;  // of this executor, by cells
  std::uint64_t shared_ = 0;           // keys that have a cell and an entry of the log
  bool unfit_ = false;                 // in an earlier slice
  TableCounts counts_;                 // without those of the log that it has now
  const StateThresholds* thresholds_;
};

}  // namespace glaive::state

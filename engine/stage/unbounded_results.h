// UnboundedResults: the results of an aggregation without windows. The slice that is due is merged into one table of
// all keys. The keys of the slice then have new results. Where results are due at the end only, there is one slice:
// its keys have the results, and nothing is merged.
//
// A kind of window (window_kind.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/fiber/pace.h"
#include "engine/stage/read_slice.h"
#include "engine/stage/touch_new_tables.h"
#include "engine/window/windows.h"
#include "state/crdt/compact_form.h"
#include "state/store/slice_table.h"

namespace glaive::engine {

template <typename Plan>
class UnboundedResults {
 public:
  UnboundedResults(TaskContext& context, const Windows& windows, typename Plan::Store& store)
      : windows_(windows),
        memory_(context.memory),
        store_(&store),
        pace_(context.memory->thresholds().entries_per_turn) {}

  bool has_more(std::int64_t /*fired*/) const { return false; }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t window, const Emit& emit) {
    const auto emit_until = [&](const Key& key, const auto& value) {
      return emit(kMinEventTimeMs, windows_.EndMs(window), key, value.Result());
    };
    auto changed = store_->primary().TakeOldest();
    absl::Status status;
    if (windows_.has_one_window()) {
      status =
          ReadSlice(fiber, *memory_, changed, [&](const auto& entry) { return emit_until(entry.key, entry.value); });
    } else {
      status = MergeIntoTotal(fiber, changed, emit_until);
    }
    changed.Release(*memory_);
    return status;
  }

  std::uint64_t merges() const { return merges_; }

 private:
  using Key = typename Plan::Key;
  using Value = typename Plan::Value;
  using Table = state::SliceTable<Key, Value>;
  struct Item {
    std::uint64_t hash;
    Key key;
    Value value;
  };

  /// Merges what a slice has of each key into the table of all keys, a group of keys whose cache misses overlap, and
  /// emits the results of the group's keys.
  template <typename Slice, typename EmitUntil>
  absl::Status MergeIntoTotal(Fiber& fiber, Slice& changed, const EmitUntil& emit_until) {
    if (!total_) {
      absl::StatusOr<Table> created = Table::Create(*memory_, changed.size());
      if (!created.ok()) {
        return created.status();
      }
      total_ = *std::move(created);
    }
    const auto take = [&](const auto& entry) {
      items_[item_count_++] = {
          .hash = memory_->key_hash()(entry.key), .key = entry.key, .value = state::Whole(entry.value)};
      return item_count_ < items_.size() ? absl::OkStatus() : MergeGroup(fiber, emit_until);
    };
    absl::Status status = ReadSlice(fiber, *memory_, changed, take);
    return status.ok() ? MergeGroup(fiber, emit_until) : status;
  }

  /// First merges the group, then emits its results: that may suspend the fiber.
  template <typename EmitUntil>
  absl::Status MergeGroup(Fiber& fiber, const EmitUntil& emit_until) {
    const std::span<const Item> items(items_.data(), std::exchange(item_count_, 0));
    pace_.Step(fiber, items.size());
    TouchNewTables(fiber, *memory_);
    std::array<const Value*, state::kGroupSize> totals;
    std::size_t merged = 0;
    absl::Status status = total_->Apply(*memory_, items, [&](Value& total, const Item& item) {
      total.Merge(item.value);
      totals[merged++] = &total;
    });
    merges_ += merged;
    for (std::size_t i = 0; status.ok() && i < merged; ++i) {
      status = emit_until(items[i].key, *totals[i]);
    }
    return status;
  }

  Windows windows_;
  state::StateMemory* memory_;
  typename Plan::Store* store_;
  std::optional<Table> total_;  // of all slices that have fired, where there are several
  std::uint64_t merges_ = 0;
  Pace pace_;  // over entries
  std::size_t item_count_ = 0;
  std::array<Item, state::kGroupSize> items_;
};

}  // namespace glaive::engine

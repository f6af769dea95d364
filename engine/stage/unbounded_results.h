// UnboundedResults: without windows, the slice that is due is merged into one table of all keys, and the results are
// those of the slice's keys.
//
// A kind of window (window_kind.h). The first slice becomes the table as it lies:
// where results are due at the end only, nothing is ever merged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/fiber/pace.h"
#include "engine/stage/touch_new_tables.h"
#include "engine/window/windows.h"
#include "state/index/key_hash.h"
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
    const auto emit_until = [&](const Key& key, const Value& value) {
      return emit(kMinEventTimeMs, windows_.EndMs(window), key, value.Result());
    };
    Table changed = store_->primary().TakeOldest();
    if (!total_) {
      total_ = std::move(changed);
      return EmitAll(fiber, emit_until);
    }
    absl::Status status;
    for (std::uint32_t first = 0; status.ok() && first < changed.size(); first += state::kGroupSize) {
      TouchNewTables(fiber, *memory_);
      status = MergeGroup(changed, first, emit_until);
      pace_.Step(fiber, state::kGroupSize);
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
    const Value* value;
  };

  template <typename EmitUntil>
  absl::Status EmitAll(Fiber& fiber, const EmitUntil& emit_until) {
    for (std::uint32_t i = 0; i < total_->size(); ++i) {
      pace_.Step(fiber);
      const auto& [key, value] = total_->At(i);
      if (absl::Status status = emit_until(key, value); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  /// Merges the slice's entries from `first` on into the table, a group whose cache misses overlap, and then emits the
  /// results: that may suspend the fiber.
  template <typename EmitUntil>
  absl::Status MergeGroup(Table& changed, std::uint32_t first, const EmitUntil& emit_until) {
    std::array<Item, state::kGroupSize> items;
    std::array<const Value*, state::kGroupSize> totals;
    std::size_t count = 0;
    for (; count < items.size() && first + count < changed.size(); ++count) {
      const auto& entry = changed.At(first + static_cast<std::uint32_t>(count));
      items[count] = Item{.hash = memory_->key_hash()(entry.key), .key = entry.key, .value = &entry.value};
    }
    std::size_t merged = 0;
    absl::Status status =
        total_->Apply(*memory_, std::span<const Item>(items.data(), count), [&](Value& total, const Item& item) {
          total.Merge(*item.value);
          totals[merged++] = &total;
        });
    merges_ += merged;
    for (std::size_t i = 0; status.ok() && i < count; ++i) {
      status = emit_until(items[i].key, *totals[i]);
    }
    return status;
  }

  Windows windows_;
  state::StateMemory* memory_;
  typename Plan::Store* store_;
  std::optional<Table> total_;  // of all slices that have fired
  std::uint64_t merges_ = 0;
  Pace pace_;  // over entries
};

}  // namespace glaive::engine

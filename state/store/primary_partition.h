// PrimaryPartition: the tables of the open slices of the keys that an executor leads.
//
// Owned by one executor, used by its thread alone. Slices open when their first key arrives, from the executor's own
// records or from a delta, and are dropped whole once their window has fired.
//
//   1. No slice below first_open() exists or is opened again: its window has fired (invariant I4).
//
//   absl::StatusOr<SliceTable<K, V>*> table = partition.Open(slice);   // or a WindowTable, or an AppendTable
//   partition.DropBefore(next_slice);
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/status/statusor.h"

#include "rdma/base/check.h"
#include "state/epoch/slice_id.h"
#include "state/log/state_memory.h"
#include "state/store/state_kind.h"
#include "state/store/table_counts.h"

namespace glaive::state {

/// `TableT` is a SliceTable, a WindowTable or an AppendTable.
template <StateKey K, typename V, typename TableT = typename StateKind<K, V>::Table>
class PrimaryPartition {
 public:
  using Table = TableT;

  explicit PrimaryPartition(StateMemory& memory) : memory_(&memory) {}

  /// The slice's table, opened if it is new, and as large as the last slice needed it. The pointer
  /// holds until the slice is dropped. ResourceExhausted past the budget.
  absl::StatusOr<Table*> Open(SliceId slice) {
    if (last_table_ != nullptr && slice == last_opened_) [[likely]] {
      return last_table_;
    }
    auto found = slices_.find(slice);
    if (found == slices_.end()) {
      GLAIVE_CHECK(slice >= first_open_, "I4: slice ", Value(slice), " has fired; the first open one is ",
                   Value(first_open_));
      // What comes behind the newest slice is out of order, and most often little.
      const bool newest = slices_.empty() || slice > slices_.rbegin()->first;
      absl::StatusOr<Table> table = Table::Create(*memory_, newest ? NextForecast() : Forecast{});
      if (!table.ok()) {
        return table.status();
      }
      found = slices_.emplace(slice, *std::move(table)).first;
    }
    last_opened_ = slice;
    last_table_ = &found->second;
    return last_table_;
  }

  /// Whether Open of a slice makes a table that is large from the start.
  bool OpensLargeTable(SliceId slice) const {
    return LastOpened(slice) == nullptr && (slices_.empty() || slice > slices_.rbegin()->first) &&
           Table::IsOfMany(memory_->thresholds(), NextForecast());
  }

  /// The table of the slice that Open returned last; null of another slice, and if it was dropped since.
  Table* LastOpened(SliceId slice) const { return slice == last_opened_ ? last_table_ : nullptr; }

  /// The oldest open slice, null if there is none.
  const std::pair<const SliceId, Table>* Oldest() const { return slices_.empty() ? nullptr : &*slices_.begin(); }

  /// Takes the oldest slice out, of which there must be one; its memory is now the caller's to release.
  Table TakeOldest() {
    GLAIVE_CHECK(!slices_.empty(), "no slice is open");
    const auto oldest = slices_.begin();
    last_forecast_ = oldest->second.forecast();
    counts_ += oldest->second.counts();
    if (oldest->first == last_opened_) {
      last_table_ = nullptr;
    }
    Table table = std::move(oldest->second);
    slices_.erase(oldest);
    return table;
  }

  /// Drops all slices below `slice`, and lets none of them open again.
  void DropBefore(SliceId slice) {
    while (!slices_.empty() && slices_.begin()->first < slice) {
      TakeOldest().Release(*memory_);
    }
    first_open_ = std::max(first_open_, slice);
  }

  SliceId first_open() const { return first_open_; }
  std::size_t open_slices() const { return slices_.size(); }
  /// In all open slices.
  std::uint64_t entries() const {
    std::uint64_t entries = 0;
    for (const auto& [slice, table] : slices_) {
      entries += table.size();
    }
    return entries;
  }

  /// Of the slices that are open and of those that were dropped.
  TableCounts counts() const {
    TableCounts counts = counts_;
    for (const auto& [slice, table] : slices_) {
      counts += table.counts();
    }
    return counts;
  }

 private:
  using Forecast = typename Table::Forecast;

  /// By the slice that closed last and the newest open ones: there may be a slice for each of many short slides.
  Forecast NextForecast() const {
    constexpr int kSlicesAsked = 4;
    Forecast most = last_forecast_;
    int asked = 0;
    for (auto slice = slices_.rbegin(); slice != slices_.rend() && asked < kSlicesAsked; ++slice, ++asked) {
      most = Table::Both(most, slice->second.forecast());
    }
    return most;
  }

  StateMemory* memory_;
  std::map<SliceId, Table> slices_;
  SliceId first_open_ = kFirstSlice;
  SliceId last_opened_ = kFirstSlice;
  Table* last_table_ = nullptr;  // of last_opened_, null if that was dropped
  Forecast last_forecast_{};
  TableCounts counts_;  // of slices that were dropped
};

}  // namespace glaive::state

// DistinctResults: counts the elements of each key, of each Distinct on its own, and merges the values beside them. The
// state has an entry for each element of a key.
//
// A kind of window (window_kind.h) around another, which has to emit each element of a window once. The totals are made
// anew for each window, in a table of the state's budget.
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

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/fiber/pace.h"
#include "engine/stage/touch_new_tables.h"
#include "engine/window/windows.h"
#include "state/index/key_hash.h"
#include "state/record/text_arena.h"
#include "state/store/slice_table.h"

namespace glaive::engine {

template <typename Plan, typename Elements>
class DistinctResults {
 public:
  DistinctResults(TaskContext& context, const Windows& windows, typename Plan::Store& store)
      : memory_(context.memory),
        elements_(context, windows, store),
        pace_(std::min(kMostPerTurn, context.memory->thresholds().entries_per_turn)) {}

  bool has_more(std::int64_t fired) const { return elements_.has_more(fired); }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t window, const Emit& emit) {
    absl::StatusOr<Table> totals = Table::Create(*memory_, last_keys_);
    if (!totals.ok()) {
      return totals.status();
    }
    TouchNewTables(fiber, *memory_);
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;
    const auto add = [&](std::int64_t start, std::int64_t end, const typename Plan::Key& key, const Part& part) {
      start_ms = start;
      end_ms = end;
      pace_.Step(fiber);
      // The table that the element is from may be gone before the last of them are added.
      const GroupKey group = pending_texts_.Own(key.group());
      TouchNewTables(fiber, *memory_);
      pending_[pending_count_++] = Item{.hash = memory_->key_hash()(group),
                                        .key = group,
                                        .number = Plan::Stored::NumberOf(key),
                                        .part = pending_texts_.Own(part)};
      return pending_count_ == pending_.size() ? AddPending(*totals) : absl::OkStatus();
    };
    absl::Status status = elements_.Fire(fiber, window, add);
    if (status.ok()) {
      status = AddPending(*totals);
    }
    for (std::uint32_t i = 0; status.ok() && i < totals->size(); ++i) {
      const auto& [key, value] = totals->At(i);
      status = emit(start_ms, end_ms, key, value.Result());
    }
    last_keys_ = totals->size();
    totals->Release(*memory_);
    return status;
  }

  std::uint64_t merges() const { return elements_.merges(); }

 private:
  using GroupKey = typename Plan::GroupKey;
  using Part = std::remove_cvref_t<decltype(std::declval<const typename Plan::Value&>().Result())>;
  using Number = decltype(Plan::Stored::NumberOf(std::declval<const typename Plan::Key&>()));
  using Total = typename Plan::Stored::Total;
  using Table = state::SliceTable<GroupKey, typename Total::Type>;
  struct Item {
    std::uint64_t hash;
    GroupKey key;
    [[no_unique_address]] Number number;
    [[no_unique_address]] Part part;
  };

  /// Elements added in a turn: fewer where large values stand beside them.
  static constexpr std::uint64_t kMostPerTurn = std::max<std::uint64_t>((std::uint64_t{64} << 10) / sizeof(Part), 64);

  absl::Status AddPending(Table& totals) {
    const std::span<const Item> items(pending_.data(), pending_count_);
    pending_count_ = 0;
    absl::Status status = totals.Apply(*memory_, items, [](typename Total::Type& total, const Item& item) {
      Total::Add(total, item.part, item.number);
    });
    pending_texts_.Clear();
    return status;
  }

  state::StateMemory* memory_;
  Elements elements_;
  Pace pace_;  // over elements
  std::uint64_t last_keys_ = 0;
  std::size_t pending_count_ = 0;
  std::array<Item, state::kGroupSize> pending_;
  state::TextArena pending_texts_;
};

}  // namespace glaive::engine

// SessionJoinResults: the join of sessions: a session of a key spans the records of both sides, and its result is every
// pair of a left and a right tuple of it.
//
// Slices are as long as the gap, as in session_results.h: what a slice holds of a key, of both sides, is of one
// session. When a slice is complete its tuples are gathered in lists, one for each key and side; they continue the
// lists of the session that was open, and sessions that they don't continue are closed: their pairs are emitted, and
// the places of their tuples used again.
//
// One of the kinds of results that a WindowTrigger is made of; see there. What is called a window there is a slice
// here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/stage/join_plan.h"
#include "engine/stage/kept_tuples.h"
#include "engine/stage/slice_times.h"
#include "engine/window/windows.h"
#include "state/index/key_hash.h"
#include "state/store/slice_table.h"
#include "state/store/tuple_lists.h"

namespace glaive::engine {

template <typename Plan>
class SessionJoinResults {
 public:
  using LeftStore = typename Plan::Left::Store;
  using RightStore = typename Plan::Right::Store;

  SessionJoinResults(TaskContext& context, const Windows& windows, LeftStore& left, RightStore& right)
      : windows_(windows), memory_(context.memory), left_(&left), right_(&right) {}

  /// Whether sessions are open, which the next slice continues or completes.
  bool has_more(std::int64_t /*fired*/) const { return open_.has_value(); }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t slice, const Emit& emit) {
    std::optional<Table> next;
    absl::Status status = Gather(fiber, slice, *left_, left_tuples_, &Part::left, next);
    status.Update(Gather(fiber, slice, *right_, right_tuples_, &Part::right, next));
    kept_.Note(left_tuples_.size() + left_->primary().entries() + right_tuples_.size() + right_->primary().entries(),
               memory_->used_bytes());
    if (!status.ok()) {
      return status;
    }
    if (open_) {
      if (next) {
        Continue(fiber, *next);
      }
      if (status = EmitComplete(fiber, emit); !status.ok()) {
        return status;
      }
      open_->Release(*memory_);
    }
    open_ = std::move(next);
    left_tuples_.ReleaseIfEmpty(*memory_);
    right_tuples_.ReleaseIfEmpty(*memory_);
    return absl::OkStatus();
  }

  std::uint64_t merges() const { return merges_; }
  const KeptTuples& kept() const { return kept_; }
  /// Tuples of the left and of the right stream that are kept here, not in the stores.
  std::pair<std::uint64_t, std::uint64_t> kept_now() const { return {left_tuples_.size(), right_tuples_.size()}; }

 private:
  using Key = typename Plan::GroupKey;
  /// A session, or what a slice has of it.
  struct Part {
    std::int64_t first_ms = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_ms = std::numeric_limits<std::int64_t>::min();
    state::TupleList left;
    state::TupleList right;

    bool empty() const { return left.size + std::uint64_t{right.size} == 0; }
  };
  using Table = state::SliceTable<Key, Part>;
  template <typename Tuple>
  struct Item {
    std::uint64_t hash;
    Key key;
    const Timed<Tuple>* timed;
  };

  static constexpr std::uint32_t kStep = 4096;  // tuples or keys looked at in a turn
  static constexpr std::uint64_t kGroupsAtOnce = kStep / state::kGroupSize;

  /// Moves the slice's tuples of one side from the store to the lists of `table`, made if there are any.
  template <typename Store, typename Tuple>
  absl::Status Gather(Fiber& fiber, std::int64_t slice, Store& store, state::TupleLists<Tuple>& tuples,
                      state::TupleList Part::* list, std::optional<Table>& table) {
    auto& primary = store.primary();
    if (primary.Oldest() == nullptr || windows_.FirstWindowOf(primary.Oldest()->first) != slice) {
      return absl::OkStatus();
    }
    auto pieces = primary.TakeOldest();
    if (!table) {
      absl::StatusOr<Table> created = Table::Create(*memory_, last_keys_);
      if (!created.ok()) {
        return created.status();
      }
      table = *std::move(created);
    }
    for (const auto& log : pieces.logs()) {
      for (std::size_t run = 0; run < log.run_count(); ++run) {
        for (auto entries = log.Run(run); !entries.empty();
             entries = entries.subspan(std::min(state::kGroupSize, entries.size()))) {
          const auto group = entries.first(std::min(state::kGroupSize, entries.size()));
          if (absl::Status status = GatherGroup(slice, group, tuples, list, *table); !status.ok()) {
            return status;
          }
          if (++groups_ % kGroupsAtOnce == 0) {
            fiber.Yield();
          }
        }
      }
    }
    last_keys_ = table->size();
    pieces.Release(*memory_);
    return absl::OkStatus();
  }

  template <typename Entry, typename Tuple>
  absl::Status GatherGroup(std::int64_t slice, std::span<const Entry> group, state::TupleLists<Tuple>& tuples,
                           state::TupleList Part::* list, Table& table) {
    std::array<Item<Tuple>, state::kGroupSize> items;
    std::size_t count = 0;
    for (const Entry& entry : group) {
      if (!windows_.Covers(slice, entry.value.tuple.time_ms)) [[unlikely]] {
        return TimeOutsideSlice(windows_, slice, entry.value.tuple.time_ms);
      }
      items[count++] = {.hash = state::HashKey(entry.key), .key = entry.key, .timed = &entry.value.tuple};
    }
    absl::Status status = tuples.MakeRoom(*memory_, static_cast<std::uint32_t>(count));
    if (!status.ok()) {
      return status;
    }
    return table.Apply(*memory_, std::span<const Item<Tuple>>(items.data(), count),
                       [&](Part& part, const Item<Tuple>& item) {
                         part.first_ms = std::min(part.first_ms, item.timed->time_ms);
                         part.last_ms = std::max(part.last_ms, item.timed->time_ms);
                         tuples.Push(part.*list, item.timed->tuple);
                       });
  }

  /// Moves the open sessions that the next slice continues into it.
  void Continue(Fiber& fiber, Table& next) {
    for (std::uint32_t i = 0; i < next.size(); ++i) {
      if (i % kStep == kStep - 1) {
        fiber.Yield();
      }
      auto& [key, part] = next.At(i);
      Part* const before = open_->Find(state::HashKey(key), key);
      if (before != nullptr && part.first_ms - before->last_ms < windows_.size_ms()) {
        part.first_ms = before->first_ms;
        left_tuples_.Concatenate(before->left, part.left);
        right_tuples_.Concatenate(before->right, part.right);
        part.left = std::exchange(before->left, {});
        part.right = std::exchange(before->right, {});
        ++merges_;
      }
    }
  }

  template <typename Emit>
  absl::Status EmitComplete(Fiber& fiber, const Emit& emit) {
    for (std::uint32_t i = 0; i < open_->size(); ++i) {
      if (i % kStep == kStep - 1) {
        fiber.Yield();
      }
      auto& [key, part] = open_->At(i);
      if (part.empty()) {
        continue;  // it goes on
      }
      if (absl::Status status = EmitPairs(fiber, key, part, emit); !status.ok()) {
        return status;
      }
      left_tuples_.Free(part.left);
      right_tuples_.Free(part.right);
    }
    return absl::OkStatus();
  }

  template <typename Emit>
  absl::Status EmitPairs(Fiber& fiber, const Key& key, const Part& part, const Emit& emit) {
    const auto emit_pair = [&](const auto* left, const auto* right) {
      if (++emitted_ % kStep == 0) {
        fiber.Yield();
      }
      return emit(part.first_ms, part.last_ms + windows_.size_ms(), key, MakeResult<Plan>(left, right));
    };
    const typename Plan::Left::Tuple* const no_left = nullptr;
    const typename Plan::Right::Tuple* const no_right = nullptr;
    if (part.right.size == 0) {
      return !Plan::kKeepsLeft
                 ? absl::OkStatus()
                 : left_tuples_.ForEach(part.left, [&](const auto& left) { return emit_pair(&left, no_right); });
    }
    if (part.left.size == 0) {
      return !Plan::kKeepsRight
                 ? absl::OkStatus()
                 : right_tuples_.ForEach(part.right, [&](const auto& right) { return emit_pair(no_left, &right); });
    }
    return left_tuples_.ForEach(part.left, [&](const auto& left) {
      return right_tuples_.ForEach(part.right, [&](const auto& right) { return emit_pair(&left, &right); });
    });
  }

  Windows windows_;
  state::StateMemory* memory_;
  LeftStore* left_;
  RightStore* right_;
  state::TupleLists<typename Plan::Left::Tuple> left_tuples_;
  state::TupleLists<typename Plan::Right::Tuple> right_tuples_;
  std::optional<Table> open_;  // sessions with records in the slice that fired last
  std::uint64_t last_keys_ = 0;
  std::uint64_t groups_ = 0;
  std::uint64_t emitted_ = 0;
  std::uint64_t merges_ = 0;
  KeptTuples kept_;
};

}  // namespace glaive::engine

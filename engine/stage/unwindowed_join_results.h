// UnwindowedJoinResults: the join without windows. A pair has a result when the second of its tuples has reached the
// leader.
//
// Tuples that have come since the last turn are taken from the stores, one by one. Each is paired with those of the
// other side that are in the lists already, and is added to the list of its own side (a symmetric hash join: Wilschut
// and Apers, 1991). So a join of pairs drops nothing. At the end of the stream, an outer join emits the tuples without
// a partner.
//
// A semi or anti join keeps one right tuple of a key, and left tuples until a right one of their key comes. A semi join
// emits these left tuples then, an anti join drops them. At the end of the stream, an anti join emits the left tuples
// that no right one has met.
//
// A kind of window (window_kind.h).
#pragma once

#include <algorithm>
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
#include "engine/graph/join_rows.h"
#include "engine/stage/join_tuples.h"
#include "engine/window/windows.h"
#include "state/index/key_hash.h"
#include "state/store/slice_table.h"
#include "state/store/tuple_lists.h"

namespace glaive::engine {

template <typename Plan>
class UnwindowedJoinResults {
 public:
  using LeftStore = typename Plan::Left::Store;
  using RightStore = typename Plan::Right::Store;

  UnwindowedJoinResults(TaskContext& context, const Windows& /*windows*/, LeftStore& left, RightStore& right)
      : memory_(context.memory), left_(&left), right_(&right), pace_(context.memory->thresholds().entries_per_turn) {}

  /// Whether tuples have come.
  bool has_early() const { return left_->primary().Oldest() != nullptr || right_->primary().Oldest() != nullptr; }

  template <typename Emit>
  absl::Status EmitEarly(Fiber& fiber, const Emit& emit) {
    absl::Status status = Take(fiber, *left_, left_tuples_, [&](Part& part, const Key& key, const LeftTuple& left) {
      if (!Plan::Rows::kHasPairs && part.right.size > 0) {
        return Plan::Rows::kLeftAlone == Alone::kWithPartner ? EmitPair(fiber, key, &left, kNoRight, emit)
                                                             : absl::OkStatus();
      }
      left_tuples_.Push(part.left, left);
      return right_tuples_.ForEach(part.right,
                                   [&](const RightTuple& right) { return EmitPair(fiber, key, &left, &right, emit); });
    });
    status.Update(Take(fiber, *right_, right_tuples_, [&](Part& part, const Key& key, const RightTuple& right) {
      if constexpr (!Plan::Rows::kHasPairs) {
        return MeetFirst(fiber, part, key, right, emit);
      } else {
        right_tuples_.Push(part.right, right);
        return left_tuples_.ForEach(part.left,
                                    [&](const LeftTuple& left) { return EmitPair(fiber, key, &left, &right, emit); });
      }
    }));
    kept_.Note(left_tuples_.size() + right_tuples_.size(), memory_->used_bytes());
    // The walk over the keys is worth it once as many tuples have been dropped.
    if (!Plan::Rows::kHasPairs && table_ && left_tuples_.dropped() >= table_->size()) {
      GatherTuples(
          *memory_, left_tuples_,
          [&](const auto& move) {
            for (std::uint32_t i = 0; i < table_->size(); ++i) {
              pace_.Step(fiber);
              move(table_->At(i).value.left);
            }
          },
          [&] { pace_.Step(fiber); });
    }
    return status;
  }

  /// All that comes is taken before its one window could fire.
  bool has_more(std::int64_t /*fired*/) const { return false; }
  template <typename Emit>
  absl::Status Fire(Fiber& /*fiber*/, std::int64_t /*window*/, const Emit& /*emit*/) {
    return absl::OkStatus();
  }

  /// The tuples that have no partner, once all have come.
  template <typename Emit>
  absl::Status EmitLast(Fiber& fiber, const Emit& emit) {
    absl::Status status;
    for (std::uint32_t i = 0; table_ && i < table_->size() && status.ok(); ++i) {
      pace_.Step(fiber);
      const auto& [key, part] = table_->At(i);
      if (Plan::Rows::kLeftAlone == Alone::kWithoutPartner && part.right.size == 0) {
        status = left_tuples_.ForEach(
            part.left, [&](const LeftTuple& left) { return EmitPair(fiber, key, &left, kNoRight, emit); });
      } else if (Plan::Rows::kRightAlone == Alone::kWithoutPartner && part.left.size == 0) {
        status = right_tuples_.ForEach(
            part.right, [&](const RightTuple& right) { return EmitPair(fiber, key, kNoLeft, &right, emit); });
      }
    }
    return status;
  }

  std::uint64_t merges() const { return 0; }
  const KeptTuples& kept() const { return kept_; }
  /// Tuples of the left and of the right stream that are kept here, not in the stores.
  std::pair<std::uint64_t, std::uint64_t> kept_now() const { return {left_tuples_.size(), right_tuples_.size()}; }

 private:
  using Key = typename Plan::GroupKey;
  using LeftTuple = typename Plan::Left::Tuple;
  using RightTuple = typename Plan::Right::Tuple;
  static constexpr const LeftTuple* kNoLeft = nullptr;
  static constexpr const RightTuple* kNoRight = nullptr;
  struct Part {
    state::TupleList left;
    state::TupleList right;
  };
  using Table = state::SliceTable<Key, Part>;
  template <typename Tuple>
  struct Item {
    std::uint64_t hash;
    Key key;
    const Tuple* tuple;
  };

  template <typename Emit>
  absl::Status EmitPair(Fiber& fiber, const Key& key, const LeftTuple* left, const RightTuple* right,
                        const Emit& emit) {
    pace_.Step(fiber);
    return emit(kMinEventTimeMs, kMaxEventTimeMs, key, Plan::Rows::Make(left, right));
  }

  /// Takes a right tuple of a semi or anti join: the first of a key decides about the key's left tuples.
  template <typename Emit>
  absl::Status MeetFirst(Fiber& fiber, Part& part, const Key& key, const RightTuple& right, const Emit& emit) {
    if (part.right.size > 0) {
      return absl::OkStatus();
    }
    right_tuples_.Push(part.right, right);
    absl::Status status;
    if constexpr (Plan::Rows::kLeftAlone == Alone::kWithPartner) {
      status = left_tuples_.ForEach(part.left,
                                    [&](const LeftTuple& left) { return EmitPair(fiber, key, &left, kNoRight, emit); });
    }
    left_tuples_.Drop(part.left);
    return status;
  }

  /// Takes what a store has; calls `meet(part, key, tuple)` for each tuple, with room for it in the lists.
  template <typename Store, typename Tuple, typename Meet>
  absl::Status Take(Fiber& fiber, Store& store, state::TupleLists<Tuple>& tuples, const Meet& meet) {
    if (store.primary().Oldest() == nullptr) {
      return absl::OkStatus();
    }
    if (!table_) {
      absl::StatusOr<Table> created = Table::Create(*memory_, 0);
      if (!created.ok()) {
        return created.status();
      }
      table_ = *std::move(created);
    }
    auto taken = store.primary().TakeOldest();
    absl::Status status;
    for (const auto& log : taken.logs()) {
      for (std::size_t run = 0; run < log.run_count(); ++run) {
        for (auto entries = log.Run(run); !entries.empty() && status.ok();
             entries = entries.subspan(std::min(state::kGroupSize, entries.size()))) {
          pace_.Step(fiber, state::kGroupSize);
          status = TakeGroup(entries.first(std::min(state::kGroupSize, entries.size())), tuples, meet);
        }
      }
    }
    taken.Release(*memory_);
    return status;
  }

  template <typename Entry, typename Tuple, typename Meet>
  absl::Status TakeGroup(std::span<const Entry> group, state::TupleLists<Tuple>& tuples, const Meet& meet) {
    std::array<Item<Tuple>, state::kGroupSize> items;
    std::size_t count = 0;
    for (const Entry& entry : group) {
      items[count++] = {.hash = memory_->key_hash()(entry.key), .key = entry.key, .tuple = &entry.value.tuple};
    }
    std::size_t text_bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      text_bytes += TextBytes(*items[i].tuple);
    }
    if (absl::Status status = tuples.MakeRoom(*memory_, static_cast<std::uint32_t>(count), text_bytes); !status.ok()) {
      return status;
    }
    absl::Status met;
    absl::Status status = table_->Apply(*memory_, std::span<const Item<Tuple>>(items.data(), count),
                                        [&](Part& part, const Item<Tuple>& item) {
                                          if (met.ok()) {
                                            met = meet(part, item.key, *item.tuple);
                                          }
                                        });
    status.Update(met);
    return status;
  }

  state::StateMemory* memory_;
  LeftStore* left_;
  RightStore* right_;
  std::optional<Table> table_;
  state::TupleLists<LeftTuple> left_tuples_;
  state::TupleLists<RightTuple> right_tuples_;
  Pace pace_;  // over tuples and pairs
  KeptTuples kept_;
};

}  // namespace glaive::engine

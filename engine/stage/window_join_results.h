// WindowJoinResults: the results of a join by tumbling or sliding windows: the pairs of left and right tuples with the
// same key, and the tuples that have a result alone.
//
// The tuples lie in the pieces of the window (windows.h), in the order of their arrival. When the window fires, they
// are joined a log at a time: the smaller side goes into an index, in which the larger one is looked up, or both sides
// are sorted (sort_merge_join.h). Where the tables are split, each log and its index fit the cache
// (state/store/append_table.h). A piece is dropped when its last window has fired.
//
// A join without windows that sorts has one window, which is all of event time and fires at the end of the stream.
//
// A kind of window (window_kind.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/fiber/pace.h"
#include "engine/graph/join_rows.h"
#include "engine/stage/join_plan.h"
#include "engine/stage/join_tuples.h"
#include "engine/stage/sort_merge_join.h"
#include "engine/stage/window_tuples.h"
#include "engine/window/windows.h"
#include "state/index/group_index.h"
#include "state/log/entry_log.h"
#include "state/log/state_memory.h"

namespace glaive::engine {

template <typename Plan>
class WindowJoinResults {
 public:
  using LeftStore = typename Plan::Left::Store;
  using RightStore = typename Plan::Right::Store;

  WindowJoinResults(TaskContext& context, const Windows& windows, LeftStore& left, RightStore& right)
      : windows_(windows),
        memory_(context.memory),
        left_(left),
        right_(right),
        pace_(context.memory->thresholds().entries_per_turn) {}

  /// Whether pieces that have fired count for the next window, too.
  bool has_more(std::int64_t /*fired*/) const { return !left_.pieces.empty() || !right_.pieces.empty(); }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t window, const Emit& emit) {
    left_.TakePieces(windows_, window);
    right_.TakePieces(windows_, window);
    kept_.Note(left_.tuples() + left_.store->primary().entries() + right_.tuples() + right_.store->primary().entries(),
               memory_->used_bytes());
    const std::size_t logs = left_.split() || right_.split() ? memory_->thresholds().split_logs() : 1;
    absl::Status status = left_.Arrange(*memory_, logs, [&] { pace_.Step(fiber); });
    status.Update(right_.Arrange(*memory_, logs, [&] { pace_.Step(fiber); }));
    const std::int64_t start_ms = windows_.has_one_window() ? kMinEventTimeMs : windows_.StartMs(window);
    const std::int64_t end_ms = windows_.has_one_window() ? kMaxEventTimeMs : windows_.EndMs(window);
    const auto emit_pair = [&](const auto* left, const auto* right) {
      const auto& key = left == nullptr ? right->key : left->key;
      return emit(start_ms, end_ms, key, Plan::Rows::Make(Tuple(left), Tuple(right)));
    };
    for (std::size_t log = 0; log < logs && status.ok(); ++log) {
      if constexpr (std::is_same_v<typename Plan::Local, SortMerge>) {
        status =
            SortMergeJoin<typename Plan::Rows>(*memory_, left_, right_, log, [&] { pace_.Step(fiber); }, emit_pair);
      } else {
        const auto flipped = [&](const auto* right, const auto* left) { return emit_pair(left, right); };
        status = left_.arranged[log].tuples <= right_.arranged[log].tuples
                     ? Join<Plan::Rows::kLeftAlone, Plan::Rows::kRightAlone>(fiber, left_, right_, log, emit_pair)
                     : Join<Plan::Rows::kRightAlone, Plan::Rows::kLeftAlone>(fiber, right_, left_, log, flipped);
      }
    }
    left_.Drop(*memory_, window);
    right_.Drop(*memory_, window);
    return status;
  }

  std::uint64_t merges() const { return 0; }
  const KeptTuples& kept() const { return kept_; }
  /// Tuples of the left and of the right stream that are kept here, not in the stores.
  std::pair<std::uint64_t, std::uint64_t> kept_now() const { return {left_.tuples(), right_.tuples()}; }

 private:
  template <typename Store>
  using Side = WindowTuples<Store>;

  template <typename Entry>
  static const auto* Tuple(const Entry* entry) {
    return entry == nullptr ? nullptr : &entry->value.tuple;
  }

  /// Joins one log of both sides: `build` goes into the index, `probe` is looked up. Calls `emit_pair(build, probe)`
  /// for each pair, if pairs are results, and with null in place of the other for a tuple that has a result alone.
  template <Alone kBuildAlone, Alone kProbeAlone, typename Build, typename Probe, typename EmitPair>
  absl::Status Join(Fiber& fiber, const Side<Build>& build, const Side<Probe>& probe, std::size_t log,
                    const EmitPair& emit_pair) {
    using BuildEntry = typename Side<Build>::Entry;
    using ProbeEntry = typename Side<Probe>::Entry;
    using Index = state::GroupIndex<BuildEntry>;
    const BuildEntry* const no_build = nullptr;
    if (build.arranged[log].tuples == 0 && kProbeAlone != Alone::kWithoutPartner) {
      return absl::OkStatus();
    }
    absl::StatusOr<Index> index = Index::Create(*memory_, build.arranged[log].tuples);
    if (!index.ok()) {
      return index.status();
    }
    while (index->ClearSome()) {
      fiber.Yield();
    }
    absl::Status status = build.ForEach(log, [&](const BuildEntry& entry) {
      pace_.Step(fiber);
      index->Insert(entry);
      return absl::OkStatus();
    });
    if constexpr (kBuildAlone != Alone::kNever) {
      status.Update(matched_.MakeRoom(*memory_, index->size()));
      for (std::uint32_t i = 0; status.ok() && i < index->size(); ++i) {
        pace_.Step(fiber);
        matched_.Append(false);
      }
    }
    status.Update(!status.ok() ? status : probe.ForEach(log, [&](const ProbeEntry& entry) {
      pace_.Step(fiber);
      const std::uint32_t first = index->Find(entry.key);
      if (first == Index::kNone) {
        return kProbeAlone == Alone::kWithoutPartner ? emit_pair(no_build, &entry) : absl::OkStatus();
      }
      if constexpr (kBuildAlone != Alone::kNever) {
        matched_.At(first) = true;
      }
      if constexpr (kProbeAlone == Alone::kWithPartner) {
        return emit_pair(no_build, &entry);
      }
      for (std::uint32_t match = first; Plan::Rows::kHasPairs && match != Index::kNone; match = index->Next(match)) {
        pace_.Step(fiber);
        if (absl::Status emitted = emit_pair(&index->At(match), &entry); !emitted.ok()) {
          return emitted;
        }
      }
      return absl::OkStatus();
    }));
    if constexpr (kBuildAlone != Alone::kNever) {
      if (status.ok()) {
        status = EmitAlone(fiber, *index, kBuildAlone == Alone::kWithPartner, [&](const BuildEntry& entry) {
          return emit_pair(&entry, static_cast<const ProbeEntry*>(nullptr));
        });
      }
      matched_.Release(*memory_);
    }
    index->Release(*memory_);
    return status;
  }

  /// Calls `emit(entry)` for the entries in the index that have met a partner, or for those that have not.
  template <typename Index, typename Emit>
  absl::Status EmitAlone(Fiber& fiber, const Index& index, bool matched, const Emit& emit) {
    for (std::uint32_t first = 0; first < index.size(); ++first) {
      pace_.Step(fiber);
      if (!index.IsFirst(first) || matched_.At(first) != matched) {
        continue;
      }
      for (std::uint32_t number = first; number != Index::kNone; number = index.Next(number)) {
        pace_.Step(fiber);
        if (absl::Status status = emit(index.At(number)); !status.ok()) {
          return status;
        }
      }
    }
    return absl::OkStatus();
  }

  Windows windows_;
  state::StateMemory* memory_;
  Side<LeftStore> left_;
  Side<RightStore> right_;
  state::EntryLog<bool> matched_;  // of the index that is probed: first entries of their keys that have met a partner
  Pace pace_;                      // over tuples
  KeptTuples kept_;
};

}  // namespace glaive::engine

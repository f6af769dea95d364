// SessionJoinResults: the join of sessions: a session of a key spans the records of both sides, and its result is every
// pair of a left and a right tuple of it.
//
// Slices are as long as the gap, as in session_results.h: what a slice holds of a key, of both sides, is of one
// session. When a slice is complete it continues sessions that the slice before has left open, and those it does not
// continue are closed: their pairs are emitted (session_share.h).
//
// Sessions are kept in one share or, once a slice is so large that its tables are split, in as many shares as such a
// table has logs, so that log by log is put together in the cache. One share is left when no session is open.
//
// A kind of window (window_kind.h). What is called a window there is a slice
// here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/fiber/pace.h"
#include "engine/stage/join_plan.h"
#include "engine/stage/kept_tuples.h"
#include "engine/stage/session_share.h"
#include "engine/stage/slice_times.h"
#include "engine/window/windows.h"
#include "state/store/append_table.h"

namespace glaive::engine {

template <typename Plan>
class SessionJoinResults {
 public:
  using LeftStore = typename Plan::Left::Store;
  using RightStore = typename Plan::Right::Store;

  SessionJoinResults(TaskContext& context, const Windows& windows, LeftStore& left, RightStore& right)
      : windows_(windows),
        memory_(context.memory),
        left_(&left),
        right_(&right),
        shares_(1),
        pace_(context.memory->thresholds().entries_per_turn) {}

  /// Whether sessions are open, which the next slice continues or completes.
  bool has_more(std::int64_t /*fired*/) const { return has_open_; }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t slice, const Emit& emit) {
    const auto [left_before, right_before] = kept_now();
    kept_.Note(left_before + left_->primary().entries() + right_before + right_->primary().entries(),
               memory_->used_bytes());
    std::optional<LeftTable> left = Take(*left_, slice);
    std::optional<RightTable> right = Take(*right_, slice);
    absl::Status status = Split(fiber, left, right);
    has_open_ = false;
    for (std::size_t number = 0; number < shares_.size() && status.ok(); ++number) {
      status = FireShare(fiber, slice, number, left ? &left->logs()[number] : nullptr,
                         right ? &right->logs()[number] : nullptr, emit);
      has_open_ = has_open_ || !shares_[number].empty();
    }
    if (left) {
      left->Release(*memory_);
    }
    if (right) {
      right->Release(*memory_);
    }
    if (!has_open_ && status.ok()) {
      shares_.resize(1);
    }
    return status;
  }

  std::uint64_t merges() const { return merges_; }
  const KeptTuples& kept() const { return kept_; }
  /// Tuples of the left and of the right stream that are kept here, not in the stores.
  std::pair<std::uint64_t, std::uint64_t> kept_now() const {
    std::pair<std::uint64_t, std::uint64_t> kept;
    for (const Share& share : shares_) {
      kept.first += share.left().size();
      kept.second += share.right().size();
    }
    return kept;
  }

 private:
  using Share = SessionShare<Plan>;
  using LeftTable = typename LeftStore::Table;
  using RightTable = typename RightStore::Table;

  static constexpr std::size_t kTuplesAtOnce = 128;  // that a share takes

  /// The slice's table, if the store has one.
  template <typename Store>
  std::optional<typename Store::Table> Take(Store& store, std::int64_t slice) const {
    auto& primary = store.primary();
    if (primary.Oldest() == nullptr || windows_.FirstWindowOf(primary.Oldest()->first) != slice) {
      return std::nullopt;
    }
    return primary.TakeOldest();
  }

  /// Makes as many shares as either table has logs, and as many logs as there are shares.
  absl::Status Split(Fiber& fiber, std::optional<LeftTable>& left, std::optional<RightTable>& right) {
    absl::Status status;
    if (shares_.size() == 1 && ((left && left->split()) || (right && right->split()))) {
      std::vector<Share> shares(memory_->thresholds().split_logs());
      const state::SplitLogOf log_of(*memory_);
      status = shares_.front().MoveTo(
          *memory_, [&](std::uint64_t hash) -> Share& { return shares[log_of(hash)]; }, [&] { pace_.Step(fiber); });
      shares_ = std::move(shares);
    }
    if (shares_.size() > 1) {
      status.Update(left && !left->split() ? left->Split(*memory_) : absl::OkStatus());
      status.Update(right && !right->split() ? right->Split(*memory_) : absl::OkStatus());
    }
    return status;
  }

  template <typename Emit>
  absl::Status FireShare(Fiber& fiber, std::int64_t slice, std::size_t number, const typename LeftTable::Log* left,
                         const typename RightTable::Log* right, const Emit& emit) {
    Share& share = shares_[number];
    const std::uint64_t tuples = (left == nullptr ? 0 : left->size()) + (right == nullptr ? 0 : right->size());
    if (tuples == 0 && share.empty()) {
      return absl::OkStatus();
    }
    absl::Status status = share.BeginSlice(*memory_, tuples);
    status.Update(status.ok() ? Read(fiber, slice, left, [&](auto some) { return share.AddLeft(*memory_, some); })
                              : status);
    status.Update(status.ok() ? Read(fiber, slice, right, [&](auto some) { return share.AddRight(*memory_, some); })
                              : status);
    if (!status.ok()) {
      return status;
    }
    const absl::StatusOr<std::uint64_t> continued = share.EndSlice(
        *memory_, windows_.size_ms(), [&] { pace_.Step(fiber); },
        [&](const auto& session) { return EmitPairs(fiber, share, session, emit); });
    merges_ += continued.value_or(0);
    return continued.status();
  }

  /// Calls `add(entries)` for all of a log, some at a time.
  template <typename Log, typename AddFn>
  absl::Status Read(Fiber& fiber, std::int64_t slice, const Log* log, const AddFn& add) {
    for (std::size_t run = 0; log != nullptr && run < log->run_count(); ++run) {
      for (auto rest = log->Run(run); !rest.empty();) {
        const auto some = rest.first(std::min(kTuplesAtOnce, rest.size()));
        rest = rest.subspan(some.size());
        for (const auto& entry : some) {
          if (!windows_.Covers(slice, entry.value.tuple.time_ms)) [[unlikely]] {
            return TimeOutsideSlice(windows_, slice, entry.value.tuple.time_ms);
          }
        }
        if (absl::Status status = add(some); !status.ok()) {
          return status;
        }
        pace_.Step(fiber, some.size());
      }
    }
    return absl::OkStatus();
  }

  template <typename Emit>
  absl::Status EmitPairs(Fiber& fiber, const Share& share, const typename Share::Session& session, const Emit& emit) {
    const auto emit_pair = [&](const auto* left, const auto* right) {
      pace_.Step(fiber);
      return emit(session.first_ms, session.last_ms + windows_.size_ms(), session.key, MakeResult<Plan>(left, right));
    };
    const typename Plan::Left::Tuple* const no_left = nullptr;
    const typename Plan::Right::Tuple* const no_right = nullptr;
    if (session.right.size == 0) {
      return !Plan::kOuterLeft
                 ? absl::OkStatus()
                 : share.left().ForEach(session.left, [&](const auto& left) { return emit_pair(&left, no_right); });
    }
    if (session.left.size == 0) {
      return !Plan::kOuterRight
                 ? absl::OkStatus()
                 : share.right().ForEach(session.right, [&](const auto& right) { return emit_pair(no_left, &right); });
    }
    return share.left().ForEach(session.left, [&](const auto& left) {
      return share.right().ForEach(session.right, [&](const auto& right) { return emit_pair(&left, &right); });
    });
  }

  Windows windows_;
  state::StateMemory* memory_;
  LeftStore* left_;
  RightStore* right_;
  std::vector<Share> shares_;  // of the sessions with records in the slice that fired last
  bool has_open_ = false;      // whether there is one
  Pace pace_;                  // over tuples, sessions or pairs
  std::uint64_t merges_ = 0;
  KeptTuples kept_;
};

}  // namespace glaive::engine

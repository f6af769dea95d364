// SessionTuples: the tuples of sessions, of one stream or of the two of a join, and which sessions have ended.
//
// Slices are as long as the gap, as in session_results.h: what a slice holds of a key, of both sides, is of one
// session. When a slice is complete it continues sessions that the slice before has left open, and those it does not
// continue have ended (session_share.h).
//
// Sessions are in one share or, once a slice is so large that its tables are split, in as many shares as such a table
// has logs, so that log by log is put together in the cache. One share is left when no session is open.
//
// Owned by a kind of window, used by its fiber.
//
//   status = tuples.Fire(fiber, slice, [&](const auto& share, const auto& session) { ... });   // of each that has
//   ended
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/take_first.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/fiber/pace.h"
#include "engine/stage/session_share.h"
#include "engine/stage/slice_times.h"
#include "engine/window/windows.h"
#include "state/log/state_memory.h"
#include "state/store/append_table.h"

namespace glaive::engine {

template <typename Plan>
class SessionTuples {
 public:
  using LeftStore = typename Plan::Left::Store;
  using RightStore = typename Plan::Right::Store;
  using Share = SessionShare<Plan>;

  /// `right` is null where there is one stream. All outlive it.
  SessionTuples(TaskContext& context, const Windows& windows, LeftStore& left, RightStore* right)
      : windows_(windows),
        memory_(context.memory),
        left_(&left),
        right_(right),
        shares_(1),
        pace_(context.memory->thresholds().entries_per_turn) {}

  /// Whether sessions are open, which the next slice continues or completes.
  bool has_open() const { return has_open_; }

  /// Takes in a slice. Calls `ended(share, session)`, which returns a status, for each session that has ended with it,
  /// until one is not OK.
  template <typename EndedFn>
  absl::Status Fire(Fiber& fiber, std::int64_t slice, const EndedFn& ended) {
    std::optional<LeftTable> left = Take(left_, slice);
    std::optional<RightTable> right = Take(right_, slice);
    absl::Status status = Split(fiber, left, right);
    has_open_ = false;
    for (std::size_t number = 0; number < shares_.size() && status.ok(); ++number) {
      status = FireShare(fiber, slice, number, left ? &left->logs()[number] : nullptr,
                         right ? &right->logs()[number] : nullptr, ended);
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

  /// Ends the fiber's turns: over tuples, sessions, and what is made of them.
  Pace& pace() { return pace_; }

  std::uint64_t merges() const { return merges_; }
  /// Tuples of the left and of the right stream in open sessions.
  std::pair<std::uint64_t, std::uint64_t> sizes() const {
    std::pair<std::uint64_t, std::uint64_t> sizes;
    for (const Share& share : shares_) {
      sizes.first += share.left().size();
      sizes.second += share.right().size();
    }
    return sizes;
  }

 private:
  using LeftTable = typename LeftStore::Table;
  using RightTable = typename RightStore::Table;

  static constexpr std::size_t kTuplesAtOnce = 128;  // that a share takes

  /// The slice's table, if the store has one.
  template <typename Store>
  std::optional<typename Store::Table> Take(Store* store, std::int64_t slice) const {
    if (store == nullptr || store->primary().Oldest() == nullptr ||
        windows_.FirstWindowOf(store->primary().Oldest()->first) != slice) {
      return std::nullopt;
    }
    return store->primary().TakeOldest();
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

  template <typename EndedFn>
  absl::Status FireShare(Fiber& fiber, std::int64_t slice, std::size_t number, const typename LeftTable::Log* left,
                         const typename RightTable::Log* right, const EndedFn& ended) {
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
        [&](const auto& session) { return ended(share, session); });
    merges_ += continued.value_or(0);
    return continued.status();
  }

  /// Calls `add(entries)` for all of a log, some at a time.
  template <typename Log, typename AddFn>
  absl::Status Read(Fiber& fiber, std::int64_t slice, const Log* log, const AddFn& add) {
    for (std::size_t run = 0; log != nullptr && run < log->run_count(); ++run) {
      for (auto rest = log->Run(run); !rest.empty();) {
        const auto some = TakeFirst(rest, kTuplesAtOnce);
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

  Windows windows_;
  state::StateMemory* memory_;
  LeftStore* left_;
  RightStore* right_;
  std::vector<Share> shares_;  // of the sessions with records in the slice that fired last
  bool has_open_ = false;      // whether there is one
  Pace pace_;
  std::uint64_t merges_ = 0;
};

}  // namespace glaive::engine

// SessionJoinResults: the join of sessions. A session of a key spans the records of both sides. Its results are the
// pairs of a left and a right tuple of it.
//
// When a session has ended (session_tuples.h), its pairs are emitted.
//
// A kind of window (window_kind.h), whose windows are slices here.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/status.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/graph/join_rows.h"
#include "engine/stage/join_tuples.h"
#include "engine/stage/session_tuples.h"
#include "engine/window/windows.h"
#include "state/log/state_memory.h"

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
        tuples_(context, windows, left, &right) {}

  /// Whether sessions are open, which the next slice continues or completes.
  bool has_more(std::int64_t /*fired*/) const { return tuples_.has_open(); }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t slice, const Emit& emit) {
    const auto [left_before, right_before] = kept_now();
    kept_.Note(left_before + left_->primary().entries() + right_before + right_->primary().entries(),
               memory_->used_bytes());
    return tuples_.Fire(fiber, slice, [&](const Share& share, const typename Share::Session& session) {
      return EmitPairs(fiber, share, session, emit);
    });
  }

  std::uint64_t merges() const { return tuples_.merges(); }
  const KeptTuples& kept() const { return kept_; }
  /// Tuples of the left and of the right stream that are kept here, not in the stores.
  std::pair<std::uint64_t, std::uint64_t> kept_now() const { return tuples_.sizes(); }

 private:
  using Share = typename SessionTuples<Plan>::Share;

  template <typename Emit>
  absl::Status EmitPairs(Fiber& fiber, const Share& share, const typename Share::Session& session, const Emit& emit) {
    const auto emit_pair = [&](const auto* left, const auto* right) {
      tuples_.pace().Step(fiber);
      return emit(session.first_ms, session.last_ms + windows_.size_ms(), session.key, Plan::Rows::Make(left, right));
    };
    const typename Plan::Left::Tuple* const no_left = nullptr;
    const typename Plan::Right::Tuple* const no_right = nullptr;
    if (Plan::Rows::kLeftAlone == (session.right.size == 0 ? Alone::kWithoutPartner : Alone::kWithPartner)) {
      return share.left().ForEach(session.left, [&](const auto& left) { return emit_pair(&left, no_right); });
    }
    if (Plan::Rows::kRightAlone == Alone::kWithoutPartner && session.left.size == 0) {
      return share.right().ForEach(session.right, [&](const auto& right) { return emit_pair(no_left, &right); });
    }
    if constexpr (Plan::Rows::kHasPairs) {
      return share.left().ForEach(session.left, [&](const auto& left) {
        return share.right().ForEach(session.right, [&](const auto& right) { return emit_pair(&left, &right); });
      });
    } else {
      return absl::OkStatus();
    }
  }

  Windows windows_;
  state::StateMemory* memory_;
  LeftStore* left_;
  RightStore* right_;
  SessionTuples<Plan> tuples_;
  KeptTuples kept_;
};

}  // namespace glaive::engine

// WindowContentResults and SessionContentResults: what a function makes of all records of a key and window, in tumbling
// or sliding windows, and in sessions.
//
// The records lie in the pieces of the window as they came, as tuples of a join do (window_tuples.h, session_tuples.h).
// When a window fires, its keys are put together a log at a time by an index. When a session has ended, its records are
// in one list. The records of one key are then copied side by side (ordered_records.h), and the function is called.
//
// Kinds of windows (window_kind.h). A window of sessions is a slice here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/fiber/pace.h"
#include "engine/graph/window_contents.h"
#include "engine/stage/ordered_records.h"
#include "engine/stage/session_tuples.h"
#include "engine/stage/window_tuples.h"
#include "engine/window/window_spec.h"
#include "engine/window/windows.h"
#include "state/index/group_index.h"
#include "state/log/state_memory.h"

namespace glaive::engine {

/// Calls `emit` for each value that the function makes of a key's records in a window, until it returns an error.
template <typename Plan, typename Emit>
absl::Status EmitContent(const Plan& plan, const TimeWindow& window, const typename Plan::GroupKey& key,
                         std::span<const typename Plan::Record> records, const Emit& emit) {
  absl::Status status;
  EmitValues(CallProcess(plan.function, key, window, records), [&](const auto& value) {
    status.Update(status.ok() ? emit(window.start_ms, window.end_ms, key, value) : status);
  });
  return status;
}

/// `Plan` is a ContentPlan.
template <typename Plan>
class WindowContentResults {
 public:
  using Store = typename Plan::Input::Store;

  WindowContentResults(TaskContext& context, const Windows& windows, Store& store, const Plan& plan)
      : windows_(windows),
        memory_(context.memory),
        plan_(&plan),
        tuples_(store),
        pace_(context.memory->thresholds().entries_per_turn) {}

  /// Whether pieces that have fired count for the next window, too.
  bool has_more(std::int64_t /*fired*/) const { return !tuples_.pieces.empty(); }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t window, const Emit& emit) {
    tuples_.TakePieces(windows_, window);
    const std::size_t logs = tuples_.split() ? memory_->thresholds().split_logs() : 1;
    absl::Status status = tuples_.Arrange(*memory_, logs, [&] { pace_.Step(fiber); });
    for (std::size_t log = 0; log < logs && status.ok(); ++log) {
      status = tuples_.arranged[log].tuples == 0 ? absl::OkStatus() : FireLog(fiber, window, log, emit);
    }
    records_.Release(*memory_);
    tuples_.Drop(*memory_, window);
    return status;
  }

  std::uint64_t merges() const { return 0; }
  /// Records that are here and not in the store.
  std::uint64_t records() const { return tuples_.tuples(); }

 private:
  using Entry = typename Store::Table::Entry;
  using Index = state::GroupIndex<Entry>;

  template <typename Emit>
  absl::Status FireLog(Fiber& fiber, std::int64_t window, std::size_t log, const Emit& emit) {
    absl::StatusOr<Index> index = Index::Create(*memory_, tuples_.arranged[log].tuples);
    if (!index.ok()) {
      return index.status();
    }
    while (index->ClearSome()) {
      fiber.Yield();
    }
    absl::Status status = tuples_.ForEach(log, [&](const Entry& entry) {
      pace_.Step(fiber);
      index->Insert(entry);
      return absl::OkStatus();
    });
    const TimeWindow times{.start_ms = windows_.StartMs(window), .end_ms = windows_.EndMs(window)};
    for (std::uint32_t first = 0; first < index->size() && status.ok(); ++first) {
      pace_.Step(fiber);
      if (index->IsFirst(first)) {
        status = Gather(fiber, *index, first);
        status.Update(status.ok() ? EmitContent(*plan_, times, index->At(first).key, records_.InOrder(), emit)
                                  : status);
      }
    }
    index->Release(*memory_);
    return status;
  }

  /// The records of one key. The index has the first one, and then the others from the last to the second.
  absl::Status Gather(Fiber& fiber, const Index& index, std::uint32_t first) {
    std::uint64_t count = 1;
    for (std::uint32_t other = index.Next(first); other != Index::kNone; other = index.Next(other)) {
      ++count;
    }
    if (absl::Status status = records_.Begin(*memory_, count); !status.ok()) {
      return status;
    }
    records_.Add(index.At(first).value.tuple, 0);
    std::uint64_t place = count;
    for (std::uint32_t other = index.Next(first); other != Index::kNone; other = index.Next(other)) {
      pace_.Step(fiber);
      records_.Add(index.At(other).value.tuple, --place);
    }
    return absl::OkStatus();
  }

  Windows windows_;
  state::StateMemory* memory_;
  const Plan* plan_;
  WindowTuples<Store> tuples_;
  OrderedRecords<typename Plan::Record> records_;
  Pace pace_;  // over records
};

/// `Plan` is a ContentPlan.
template <typename Plan>
class SessionContentResults {
 public:
  using Store = typename Plan::Input::Store;

  SessionContentResults(TaskContext& context, const Windows& windows, Store& store, const Plan& plan)
      : windows_(windows), memory_(context.memory), plan_(&plan), tuples_(context, windows, store, nullptr) {}

  /// Whether sessions are open, which the next slice continues or completes.
  bool has_more(std::int64_t /*fired*/) const { return tuples_.has_open(); }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t slice, const Emit& emit) {
    absl::Status status = tuples_.Fire(fiber, slice, [&](const auto& share, const auto& session) {
      absl::Status begun = records_.Begin(*memory_, session.left.size);
      if (!begun.ok()) {
        return begun;
      }
      std::uint64_t place = 0;
      begun = share.left().ForEach(session.left, [&](const Timed<typename Plan::Record>& timed) {
        tuples_.pace().Step(fiber);
        records_.Add(timed, place++);
        return absl::OkStatus();
      });
      const TimeWindow times{.start_ms = session.first_ms, .end_ms = session.last_ms + windows_.size_ms()};
      return begun.ok() ? EmitContent(*plan_, times, session.key, records_.InOrder(), emit) : begun;
    });
    records_.Release(*memory_);
    return status;
  }

  std::uint64_t merges() const { return tuples_.merges(); }
  /// Records that are here and not in the store.
  std::uint64_t records() const { return tuples_.sizes().first; }

 private:
  Windows windows_;
  state::StateMemory* memory_;
  const Plan* plan_;
  SessionTuples<Plan> tuples_;
  OrderedRecords<typename Plan::Record> records_;
};

}  // namespace glaive::engine

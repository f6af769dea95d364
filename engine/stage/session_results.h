// SessionResults: sessions are joined from one slice to the next.
//
// A slice is as long as the gap. So what it has of a key is of one session; a session that is still open has records in
// the slice that fired last; and one that the next slice does not continue is complete, since its last record is a gap
// or more behind the end of that. One lookup and at most one merge for each key and slice.
//
// One of the kinds of results that a WindowTrigger is made of; see there. What is called a window there is a slice
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/stage/slice_times.h"
#include "engine/window/windows.h"
#include "state/index/key_hash.h"
#include "state/store/slice_table.h"

namespace glaive::engine {

template <typename Plan>
class SessionResults {
 public:
  SessionResults(TaskContext& context, const Windows& windows, typename Plan::Store& store)
      : windows_(windows), memory_(context.memory), store_(&store) {}

  /// Whether sessions are open, which the next slice continues or completes.
  bool has_more(std::int64_t /*fired*/) const { return open_.has_value(); }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t slice, const Emit& emit) {
    std::optional<Table> next;
    auto& primary = store_->primary();
    if (primary.Oldest() != nullptr && windows_.FirstWindowOf(primary.Oldest()->first) == slice) {
      next = primary.TakeOldest();
      if (absl::Status status = CheckTimes(fiber, slice, *next); !status.ok()) {
        return status;
      }
    }
    if (open_) {
      if (next) {
        Continue(fiber, *next);
      }
      if (absl::Status status = EmitComplete(fiber, emit); !status.ok()) {
        return status;
      }
      open_->Release(*memory_);
    }
    open_ = std::move(next);
    return absl::OkStatus();
  }

  std::uint64_t merges() const { return merges_; }

 private:
  using Table = state::SliceTable<typename Plan::Key, typename Plan::Value>;

  static constexpr std::uint32_t kStep = 4096;  // entries looked at in a turn

  absl::Status CheckTimes(Fiber& fiber, std::int64_t slice, Table& next) const {
    for (std::uint32_t i = 0; i < next.size(); ++i) {
      if (i % kStep == kStep - 1) {
        fiber.Yield();
      }
      const auto& part = next.At(i).value;
      for (const std::int64_t time_ms : {part.first_ms, part.last_ms}) {
        if (!windows_.Covers(slice, time_ms)) [[unlikely]] {
          return TimeOutsideSlice(windows_, slice, time_ms);
        }
      }
    }
    return absl::OkStatus();
  }

  /// Moves the open sessions that the next slice continues into it.
  void Continue(Fiber& fiber, Table& next) {
    for (std::uint32_t i = 0; i < next.size(); ++i) {
      if (i % kStep == kStep - 1) {
        fiber.Yield();
      }
      auto& [key, part] = next.At(i);
      auto* const before = open_->Find(state::HashKey(key), key);
      if (before != nullptr && part.first_ms - before->last_ms < windows_.size_ms()) {
        part.Merge(*before);
        *before = {};
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
      const auto& [key, part] = open_->At(i);
      if (part.empty()) {
        continue;  // it goes on
      }
      absl::Status status = emit(part.first_ms, part.last_ms + windows_.size_ms(), key, part.Result());
      if (!status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  Windows windows_;
  state::StateMemory* memory_;
  typename Plan::Store* store_;
  std::optional<Table> open_;  // sessions with records in the slice that fired last
  std::uint64_t merges_ = 0;
};

}  // namespace glaive::engine

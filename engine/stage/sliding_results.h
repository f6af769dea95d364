// SlidingResults: the results of sliding windows. Pieces of slices go to TwoStacks when the first of their windows
// fires. The results of a window are the values that TwoStacks holds then.
//
// A kind of window (window_kind.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/fiber/pace.h"
#include "engine/window/windows.h"
#include "state/store/two_stacks.h"

namespace glaive::engine {

template <typename Plan>
class SlidingResults {
 public:
  SlidingResults(TaskContext& context, const Windows& windows, typename Plan::Store& store)
      : windows_(windows),
        entries_per_turn_(context.memory->thresholds().entries_per_turn),
        store_(&store),
        stacks_(*context.memory) {}

  /// Whether pieces that have fired count for the next window, too.
  bool has_more(std::int64_t fired) const { return stacks_.until() > fired; }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t window, const Emit& emit) {
    if (absl::Status status = Combine(fiber, window); !status.ok()) {
      return status;
    }
    Pace pace(entries_per_turn_);
    for (std::uint32_t first = 0; !stacks_.Run(first).empty();) {
      const auto run = stacks_.Run(first);
      for (const auto& entry : run) {
        pace.Step(fiber);
        if (!stacks_.Holds(entry)) {
          continue;
        }
        absl::Status status =
            emit(windows_.StartMs(window), windows_.EndMs(window), entry.key, stacks_.ValueOf(entry).Result());
        if (!status.ok()) {
          return status;
        }
      }
      first += static_cast<std::uint32_t>(run.size());
    }
    return absl::OkStatus();
  }

  std::uint64_t merges() const { return stacks_.merges(); }

 private:
  absl::Status Combine(Fiber& fiber, std::int64_t window) {
    stacks_.Advance(window);
    auto& primary = store_->primary();
    for (const auto* oldest = primary.Oldest(); oldest != nullptr && windows_.FirstWindowOf(oldest->first) == window;
         oldest = primary.Oldest()) {
      const std::int64_t last = windows_.LastWindowOf(oldest->first);
      stacks_.Push(primary.TakeOldest(), last);
    }
    absl::StatusOr<bool> done = stacks_.Work(entries_per_turn_);
    for (; done.ok() && !*done; done = stacks_.Work(entries_per_turn_)) {
      fiber.Yield();
    }
    return done.status();
  }

  Windows windows_;
  std::uint64_t entries_per_turn_;  // merged or visited
  typename Plan::Store* store_;
  state::TwoStacks<typename Plan::Key, typename Plan::Value> stacks_;
};

}  // namespace glaive::engine

// WindowTrigger: fires the windows that every executor has passed, in order, each once (invariant I4).
//
// Owned by a query task, used by its trigger fiber. A tumbling window's result is the table of its one slice, which is
// dropped when it has been emitted. Slices of overlapping windows go to TwoStacks when the first of their windows
// fires, and each window's result is what that holds.
//
//   1. It waits for the clock and for the sink, never for a segment or a credit.
//   2. Nothing else changes the pieces of a window that fires: their flows have passed its end (see windows.h).
//
//   WindowTrigger<Plan> trigger(context, windows, store, progress, sink);
//   absl::Status status = trigger.Run(fiber);   // until the last window was fired and the sink has finished
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/progress/flow_progress.h"
#include "engine/sink/sink.h"
#include "engine/window/windows.h"
#include "state/store/two_stacks.h"

namespace glaive::engine {

template <typename Plan>
class WindowTrigger {
 public:
  using Row = typename Plan::Row;
  using Store = typename Plan::Store;

  /// All of them outlive the trigger.
  WindowTrigger(TaskContext& context, const Windows& windows, Store& store, FlowProgress& progress, Sink<Row>& sink)
      : context_(&context),
        windows_(windows),
        store_(&store),
        progress_(&progress),
        sink_(&sink),
        overlapping_(*context.memory) {}

  absl::Status Run(Fiber& fiber) {
    bool ended = false;
    while (!ended) {
      fiber.WaitUntil([&] { return progress_->has_passed_windows(); });
      if (absl::Status status = FirePassed(fiber); !status.ok()) {
        return status;
      }
      progress_->ForgetPassedWindows();
      ended = progress_->min_ms() == kMaxEventTimeMs;
    }
    if (absl::Status status = FinishSink(fiber); !status.ok()) {
      return status;
    }
    context_->metrics->last_result_ns = context_->clock->NowNanos();
    return absl::OkStatus();
  }

  /// Merges of two values to put windows together from slices.
  std::uint64_t merges() const { return overlapping_.merges(); }

 private:
  using Overlapping = state::TwoStacks<typename Plan::Key, typename Plan::Value>;

  static constexpr bool kOverlaps = !std::is_same_v<typename Plan::Window, Tumbling>;
  static constexpr std::size_t kStep = 4096;                              // rows emitted, or entries merged, in a turn
  static constexpr std::size_t kCleanStepBytes = std::size_t{256} << 10;  // memory cleaned in one turn

  absl::Status FirePassed(Fiber& fiber) {
    for (std::optional<std::int64_t> window = NextWindow(); window && windows_.EndMs(*window) <= progress_->min_ms();
         window = NextWindow()) {
      if (absl::Status status = Fire(fiber, *window); !status.ok()) {
        return status;
      }
      while (context_->memory->CleanSome(kCleanStepBytes)) {
        fiber.Yield();
      }
    }
    return absl::OkStatus();
  }

  /// The first window that has a result and has not fired.
  std::optional<std::int64_t> NextWindow() const {
    if (kOverlaps && fired_ && overlapping_.until() > *fired_) {
      return *fired_ + 1;
    }
    const auto* oldest = store_->primary().Oldest();
    return oldest == nullptr ? std::nullopt : std::optional(windows_.FirstWindowOf(oldest->first));
  }

  absl::Status Fire(Fiber& fiber, std::int64_t window) {
    const bool early = progress_->min_ms() != kMaxEventTimeMs;
    const std::int64_t complete_ns = progress_->PassedReadNanos(windows_.EndMs(window));
    absl::Status status = kOverlaps ? EmitOverlapping(fiber, window) : EmitTumbling(fiber, window);
    if (status.ok()) {
      status = EmitRows(fiber);
    }
    if (!status.ok()) {
      return status;
    }
    fired_ = window;
    ExecutorMetrics& metrics = *context_->metrics;
    metrics.windows_fired += 1;
    metrics.windows_fired_early += early ? 1 : 0;
    metrics.last_result_ns = context_->clock->NowNanos();
    metrics.window_latency.Add(metrics.last_result_ns - complete_ns);
    store_->primary().DropBefore(windows_.FirstPieceOf(window + 1));
    return absl::OkStatus();
  }

  absl::Status EmitTumbling(Fiber& fiber, std::int64_t window) {
    const auto& table = store_->primary().Oldest()->second;
    for (std::uint32_t first = 0; first < table.size();) {
      const auto run = table.Run(first);
      for (const auto& entry : run) {
        if (absl::Status status = Add(fiber, window, entry.key, entry.value); !status.ok()) {
          return status;
        }
      }
      first += static_cast<std::uint32_t>(run.size());
    }
    return absl::OkStatus();
  }

  absl::Status EmitOverlapping(Fiber& fiber, std::int64_t window) {
    overlapping_.Advance(window);
    auto& primary = store_->primary();
    for (const auto* oldest = primary.Oldest(); oldest != nullptr && windows_.FirstWindowOf(oldest->first) == window;
         oldest = primary.Oldest()) {
      const std::int64_t last = windows_.LastWindowOf(oldest->first);
      overlapping_.Push(primary.TakeOldest(), last);
    }
    absl::StatusOr<bool> done = overlapping_.Work(kStep);
    for (; done.ok() && !*done; done = overlapping_.Work(kStep)) {
      fiber.Yield();
    }
    if (!done.ok()) {
      return done.status();
    }
    for (std::uint32_t first = 0; !overlapping_.Run(first).empty();) {
      const auto run = overlapping_.Run(first);
      for (const auto& entry : run) {
        if (!overlapping_.Holds(entry)) {
          continue;
        }
        if (absl::Status status = Add(fiber, window, entry.key, overlapping_.ValueOf(entry)); !status.ok()) {
          return status;
        }
      }
      first += static_cast<std::uint32_t>(run.size());
    }
    return absl::OkStatus();
  }

  absl::Status Add(Fiber& fiber, std::int64_t window, const typename Plan::Key& key,
                   const typename Plan::Value& value) {
    rows_[row_count_++] = Row{.window_start_ms = windows_.StartMs(window),
                              .window_end_ms = windows_.EndMs(window),
                              .key = key,
                              .value = value.Result()};
    return row_count_ == rows_.size() ? EmitRows(fiber) : absl::OkStatus();
  }

  /// Hands over the rows, and waits until the sink would take more.
  absl::Status EmitRows(Fiber& fiber) {
    if (row_count_ == 0) {
      return absl::OkStatus();
    }
    context_->metrics->results += row_count_;
    absl::Status status = sink_->Write(std::span<const Row>(rows_.data(), std::exchange(row_count_, 0)));
    if (status.ok()) {
      fiber.WaitUntil([&] { return sink_->Ready(); });
    }
    return status;
  }

  absl::Status FinishSink(Fiber& fiber) {
    while (true) {
      const absl::StatusOr<bool> finished = sink_->TryFinish();
      if (!finished.ok() || *finished) {
        return finished.status();
      }
      fiber.WaitUntil([&] { return sink_->Ready(); });
    }
  }

  TaskContext* context_;
  Windows windows_;
  Store* store_;
  FlowProgress* progress_;
  Sink<Row>* sink_;
  Overlapping overlapping_;            // of tumbling windows it stays empty
  std::optional<std::int64_t> fired_;  // the window that fired last
  std::size_t row_count_ = 0;
  std::array<Row, kStep> rows_;
};

}  // namespace glaive::engine

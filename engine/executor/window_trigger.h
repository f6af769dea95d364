// WindowTrigger: fires the windows that every executor has passed, in order, each once (invariant I4).
//
// Owned by a query task, used by its trigger fiber. What a window's results are is the business of its kind:
//
//   has_more(fired)            whether the window after the one that fired last has results without new pieces
//   Fire(fiber, window, emit)  calls emit(start_ms, end_ms, key, result) for each result; may yield
//   merges()                   of two values to put windows together from slices
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

#include "engine/executor/distinct_results.h"
#include "engine/executor/session_results.h"
#include "engine/executor/sliding_results.h"
#include "engine/executor/task_context.h"
#include "engine/executor/tumbling_results.h"
#include "engine/executor/unbounded_results.h"
#include "engine/fiber/fiber.h"
#include "engine/progress/flow_progress.h"
#include "engine/sink/sink.h"
#include "engine/window/windows.h"

namespace glaive::engine {

/// Which of the kinds of results a window has.
template <typename Window, typename Plan>
struct ResultsKind;
template <typename Plan>
struct ResultsKind<Tumbling, Plan> : std::type_identity<TumblingResults<Plan>> {};
template <typename Plan>
struct ResultsKind<Sliding, Plan> : std::type_identity<SlidingResults<Plan>> {};
template <typename Plan>
struct ResultsKind<Session, Plan> : std::type_identity<SessionResults<Plan>> {};
template <typename Plan>
struct ResultsKind<Unbounded, Plan> : std::type_identity<UnboundedResults<Plan>> {};

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
        results_(context, windows, store) {}

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
  std::uint64_t merges() const { return results_.merges(); }

 private:
  static constexpr bool kSessions = std::is_same_v<typename Plan::Window, Session>;
  using Kind = typename ResultsKind<typename Plan::Window, Plan>::type;
  using Results = std::conditional_t<Plan::kDistinct, DistinctResults<Plan, Kind>, Kind>;

  /// Rows emitted in a turn: fewer of large values, whose results take longer to make.
  static constexpr std::size_t kRows =
      std::clamp<std::size_t>((std::size_t{64} << 10) / sizeof(typename Plan::Value), 64, 4096);
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

  /// The first window that has a result and has not fired. Of sessions, the first slice.
  std::optional<std::int64_t> NextWindow() const {
    if (fired_ && results_.has_more(*fired_)) {
      return *fired_ + 1;
    }
    const auto* oldest = store_->primary().Oldest();
    return oldest == nullptr ? std::nullopt : std::optional(windows_.FirstWindowOf(oldest->first));
  }

  absl::Status Fire(Fiber& fiber, std::int64_t window) {
    const bool early = progress_->min_ms() != kMaxEventTimeMs;
    const std::int64_t complete_ns = progress_->PassedReadNanos(windows_.EndMs(window));
    ExecutorMetrics& metrics = *context_->metrics;
    const std::uint64_t results_before = metrics.results;
    const auto emit = [&](std::int64_t start_ms, std::int64_t end_ms, const typename Plan::GroupKey& key,
                          typename Plan::Result result) {
      rows_[row_count_++] =
          Row{.window_start_ms = start_ms, .window_end_ms = end_ms, .key = key, .value = std::move(result)};
      return row_count_ == rows_.size() ? WriteRows(fiber) : absl::OkStatus();
    };
    absl::Status status = results_.Fire(fiber, window, emit);
    if (status.ok() && row_count_ > 0) {
      status = WriteRows(fiber);
    }
    if (!status.ok()) {
      return status;
    }
    fired_ = window;
    const std::uint64_t fired = kSessions ? metrics.results - results_before : 1;
    metrics.windows_fired += fired;
    metrics.windows_fired_early += early ? fired : 0;
    metrics.last_result_ns = context_->clock->NowNanos();
    if (fired > 0) {
      metrics.window_latency.Add(metrics.last_result_ns - complete_ns);
    }
    store_->primary().DropBefore(windows_.FirstPieceOf(window + 1));
    return absl::OkStatus();
  }

  /// Hands over the rows, and waits until the sink would take more.
  absl::Status WriteRows(Fiber& fiber) {
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
  Results results_;
  std::optional<std::int64_t> fired_;  // the window that fired last
  std::size_t row_count_ = 0;
  std::array<Row, kRows> rows_;
};

}  // namespace glaive::engine

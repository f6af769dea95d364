// WindowTrigger: fires the windows whose end every flow of a stage has reached, in order, each once (invariant I4), and
// hands the results to the stage's output.
//
// Owned by a stage, used by its trigger fiber. The kind of window makes the results (window_kind.h).
//
//   1. It waits for the clock and for the consumers of its results.
//   2. Nothing else changes the slices of a window that fires: their flows have passed its end (see windows.h).
//   3. A result's event time is its window's end - 1. A watermark follows once all results up to it have been handed
//      on, so no result is late for the next stage.
//   4. A turn ends after as many results as ExecutorConfig::rows_per_turn says. A result of a large value counts as
//      several, and a window that fires counts as kWorkOfWindow of them, besides its own.
//
//   WindowTrigger<Plan, Results, Store> trigger(context, windows, progress, output, stage, store);
//   absl::Status status = trigger.Spawn(scheduler);
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/fiber/scheduler.h"
#include "engine/graph/described_state.h"
#include "engine/graph/output.h"
#include "engine/progress/stage_progress.h"
#include "engine/stage/window_kind.h"
#include "engine/window/windows.h"
#include "state/record/text_arena.h"

namespace glaive::engine {

/// `Stores` are those of the stage's inputs.
template <typename Plan, typename Results, typename... Stores>
class WindowTrigger {
 public:
  using Row = typename Plan::Row;

  /// All of them outlive the trigger. `output` may still get consumers before Spawn.
  /// `reaches_sink`: the results reach a sink without another stage between, so their latencies are those of the query.
  WindowTrigger(TaskContext& context, bool reaches_sink, const Windows& windows, StageProgress& progress,
                Output<Row>& output, const DescribedState& stage, Stores&... stores)
      : WindowTrigger(
            context, reaches_sink, windows, progress, output, stage,
            [&] { return Results(context, windows, stores...); }, stores...) {}
  /// Likewise, of a kind of window that is made of more than the stores: `make()` makes it.
  template <typename MakeFn>
  WindowTrigger(TaskContext& context, bool reaches_sink, const Windows& windows, StageProgress& progress,
                Output<Row>& output, const DescribedState& stage, const MakeFn& make, Stores&... stores)
      : context_(&context),
        reaches_sink_(reaches_sink),
        windows_(windows),
        progress_(&progress),
        output_(&output),
        described_(&stage),
        stores_(&stores...),
        results_(make()) {}

  absl::Status Spawn(Scheduler& scheduler) {
    return scheduler.Spawn("trigger", FiberKind::kCompute, [this](Fiber& fiber) { Run(fiber); });
  }

  const Results& results() const { return results_; }

 private:
  static constexpr bool kSessions = std::is_same_v<typename Plan::Window, Session>;

  /// Takes results: see WindowKind.
  class Emitter {
   public:
    Emitter(WindowTrigger& trigger, Fiber& fiber) : trigger_(&trigger), fiber_(&fiber) {}

    absl::Status operator()(std::int64_t start_ms, std::int64_t end_ms, const typename Plan::GroupKey& key,
                            typename Plan::Result result) const {
      Row& row = trigger_->rows_[trigger_->row_count_++];
      row = Row{.window_start_ms = start_ms, .window_end_ms = end_ms, .key = key, .value = std::move(result)};
      trigger_->row_texts_.Adopt(row);
      trigger_->OnRow(*fiber_);
      return absl::OkStatus();
    }

   private:
    WindowTrigger* trigger_;
    Fiber* fiber_;
  };

  static constexpr bool kEarly =
      requires(Results& results, Fiber& fiber, const Emitter& emit) { results.EmitEarly(fiber, emit); };
  static_assert(WindowKind<Results, Emitter>);
  static_assert(!kEarly || EarlyWindowKind<Results, Emitter>);

  /// Rows handed on at a time: fewer of large values, whose results take longer to make.
  static constexpr std::size_t kMostRows = 4096;
  static constexpr std::size_t kRows = std::clamp<std::size_t>((std::size_t{64} << 10) / Plan::kRowWork, 64, kMostRows);
  static constexpr std::size_t kWorkOfRow = kMostRows / kRows;  // in rows of small values
  static constexpr std::size_t kWorkOfWindow = 64;              // besides its rows
  static constexpr std::size_t kMostRowTextBytes = std::size_t{256} << 10;

  void Run(Fiber& fiber) {
    while (true) {
      fiber.WaitUntil([&] {
        return progress_->has_passed_windows() || HasEarly() || output_->idle() != progress_->all_idle() ||
               output_->WantsTurn(ThisTurn());
      });
      // All records before the minimum are in the state: a flow's watermark comes behind the records it covers (I3).
      const std::int64_t min_ms = progress_->min_ms();
      if constexpr (kEarly) {
        early_read_ns_ = progress_->TakeEntriesReadNanos();
        context_->Require(fiber, described_->Explain(results_.EmitEarly(fiber, Emitter(*this, fiber))));
        WriteRows(fiber);
        early_read_ns_.reset();
        if (!results_.has_early()) {
          (void)progress_->TakeEntriesReadNanos();  // this turn has taken all entries, the latest ones too
        }
      }
      FirePassed(fiber, min_ms);
      const std::optional<std::int64_t> complete_ns = progress_->LastPassedReadNanos(min_ms);
      progress_->ForgetPassedUntil(min_ms);
      if (min_ms == kEndedMs) {
        if constexpr (kEarly) {
          context_->Require(fiber, results_.EmitLast(fiber, Emitter(*this, fiber)));
          WriteRows(fiber);
        }
        break;
      }
      PassOnWatermark(fiber, windows_.ResultsUntil(min_ms), complete_ns);
      PassOnIdleness(fiber, min_ms);
      output_->Attend(fiber, ThisTurn());
    }
    output_->Emit(fiber, EndOfStream{});
  }

  /// A trigger without results waits for other flows, however long its windows are.
  Turn ThisTurn() const { return {.now_ns = context_->clock->NowNanos(), .held_up = true}; }

  /// `complete_ns`: when the batch was read that completed the last window before the watermark, if any has been since
  /// the last one.
  void PassOnWatermark(Fiber& fiber, std::int64_t watermark_ms, std::optional<std::int64_t> complete_ns) {
    if (watermark_ms > output_->watermark_ms()) {
      Wake(fiber);
      const std::int64_t read_ns = complete_ns ? *complete_ns : context_->clock->NowNanos();
      output_->Emit(fiber, Watermark{.time_ms = watermark_ms, .read_ns = read_ns});
    }
  }

  /// While all flows are idle, the consumers need not wait for results: those up to `min_ms` have been passed on.
  void PassOnIdleness(Fiber& fiber, std::int64_t min_ms) {
    const bool idle = progress_->all_idle() && progress_->min_ms() == min_ms;
    if (!idle) {
      Wake(fiber);
    } else if (!output_->idle()) {
      output_->Emit(fiber, Idle{.now_ns = context_->clock->NowNanos()});
    }
  }

  void Wake(Fiber& fiber) {
    if (output_->idle()) {
      output_->Emit(fiber, Active{.now_ns = context_->clock->NowNanos()});
    }
  }

  bool HasEarly() const {
    if constexpr (kEarly) {
      return results_.has_early();
    } else {
      return false;
    }
  }

  void FirePassed(Fiber& fiber, std::int64_t min_ms) {
    for (std::optional<std::int64_t> window = NextWindow(); window && windows_.EndMs(*window) <= min_ms;
         window = NextWindow()) {
      Fire(fiber, *window);
      AddWork(fiber, kWorkOfWindow);
      EndLongTurn(fiber);
      while (context_->memory->CleanSome(context_->memory->thresholds().cleaned_bytes_per_turn)) {
        fiber.Yield();
      }
    }
  }

  /// The first window that has a result and has not fired. Of sessions, the first slice.
  std::optional<std::int64_t> NextWindow() const {
    if (fired_ && results_.has_more(*fired_)) {
      return *fired_ + 1;
    }
    std::optional<std::int64_t> next;
    std::apply(
        [&](const auto*... store) {
          const auto consider = [&](const auto* oldest) {
            if (oldest != nullptr) {
              const std::int64_t window = windows_.FirstWindowOf(oldest->first);
              next = next ? std::min(*next, window) : window;
            }
          };
          (consider(store->primary().Oldest()), ...);
        },
        stores_);
    return next;
  }

  void OnRow(Fiber& fiber) {
    ++emitted_;
    const std::size_t work = fiber.stats().switches == turn_ ? work_in_turn_ : 0;
    if (row_count_ == rows_.size() || row_count_ * kWorkOfRow + work >= context_->rows_per_turn ||
        row_texts_.used_bytes() > kMostRowTextBytes) {
      WriteRows(fiber);
    }
  }

  void Fire(Fiber& fiber, std::int64_t window) {
    const bool early = progress_->min_ms() != kEndedMs;
    const std::int64_t complete_ns = progress_->PassedReadNanos(windows_.EndMs(window));
    const std::uint64_t emitted_before = emitted_;
    context_->Require(fiber, described_->Explain(results_.Fire(fiber, window, Emitter(*this, fiber))));
    WriteRows(fiber);
    fired_ = window;
    ExecutorMetrics& metrics = *context_->metrics;
    const std::uint64_t fired = kSessions ? emitted_ - emitted_before : 1;
    metrics.windows_fired += fired;
    metrics.windows_fired_early += early ? fired : 0;
    metrics.last_result_ns = context_->clock->NowNanos();
    if (fired > 0 && reaches_sink_) {
      metrics.window_latency.Add(metrics.last_result_ns - complete_ns);
    }
    std::apply([&](auto*... store) { (store->primary().DropBefore(windows_.FirstPieceOf(window + 1)), ...); }, stores_);
  }

  void WriteRows(Fiber& fiber) {
    if (row_count_ > 0) {
      const std::size_t rows = std::exchange(row_count_, 0);
      AddWork(fiber, rows * kWorkOfRow);
      Wake(fiber);
      const Turn turn = ThisTurn();
      output_->Emit(fiber, Batch<Row>{.records = std::span<const Row>(rows_.data(), rows), .read_ns = turn.now_ns});
      row_texts_.Clear();
      if (early_read_ns_ && reaches_sink_) {
        context_->metrics->row_latency.Add(context_->clock->NowNanos() - *early_read_ns_, rows);
      }
      output_->Attend(fiber, turn);
      EndLongTurn(fiber);
    }
  }

  /// Counts work of the fiber's turn, in rows of small values.
  void AddWork(const Fiber& fiber, std::size_t work) {
    work_in_turn_ = fiber.stats().switches == turn_ ? work_in_turn_ + work : work;
    turn_ = fiber.stats().switches;
  }
  /// Yields if the turn has had its share of work, and no consumer has ended it meanwhile.
  void EndLongTurn(Fiber& fiber) {
    if (fiber.stats().switches == turn_ && work_in_turn_ >= context_->rows_per_turn) {
      fiber.Yield();
    }
  }

  TaskContext* context_;
  bool reaches_sink_;
  Windows windows_;
  StageProgress* progress_;
  Output<Row>* output_;
  const DescribedState* described_;
  std::tuple<Stores*...> stores_;
  Results results_;
  std::optional<std::int64_t> fired_;          // the window that fired last
  std::optional<std::int64_t> early_read_ns_;  // of rows that wait for no window: the oldest batch that they may be of
  std::uint64_t emitted_ = 0;
  std::uint64_t turn_ = 0;        // of the fiber, in which work was counted last
  std::size_t work_in_turn_ = 0;  // of that turn
  std::size_t row_count_ = 0;
  std::array<Row, kRows> rows_;
  state::TextArena row_texts_;  // of these: the table that a row is from may be gone before the row is handed on
};

}  // namespace glaive::engine

// OrderedProducer: a producer of a source's records that takes its turn in the executor's order of reading, and waits
// for slower flows (invariant I7). Its consumers get the turns that they want while it waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/graph/output.h"
#include "engine/graph/reading_order.h"
#include "engine/graph/turn.h"

namespace glaive::engine {

template <typename R>
class OrderedProducer : public Producer<R>, public OrderedReader {
 public:
  /// All outlive it. `part` is that of its vertex (OpenGraph::part).
  OrderedProducer(TaskContext& context, ReadingOrder& order, bool has_event_times, std::size_t part)
      : context_(&context), order_(&order), has_event_times_(has_event_times), part_(part) {
    order.Add(*this);
  }

  std::int64_t watermark_ms() const override {
    return output().least_watermark_ms().value_or(ended_ ? kEndedMs : output().watermark_ms());
  }
  bool CanRead() const override { return !ended_ && !output().is_emitting() && HasMore() && !output().LeadsTooFar(); }
  bool has_event_times() const override { return has_event_times_; }
  std::size_t part() const override { return part_; }

 protected:
  using Producer<R>::output;

  /// Whether there is something to read right now.
  virtual bool HasMore() const = 0;

  TaskContext& context() const { return *context_; }
  bool ended() const { return ended_; }
  void SetEnded() { ended_ = true; }

  /// Lets slower flows catch up, and sources that are behind read first.
  void WaitForTurn(Fiber& fiber) {
    if (output().LeadsTooFar()) {
      output().Flush(fiber);  // or the others might be waiting for this flow's stale clock
      AttendUntil(fiber, [&] { return !output().LeadsTooFar(); });
    }
    AttendUntil(fiber, [&] { return order_->IsTurnOf(*this); });
  }

  void ShowProgress() const { order_->ShowProgress(*context_); }

 private:
  /// Waits for other flows until `holds()`. Meanwhile consumers get the turns that they want.
  template <typename Condition>
  void AttendUntil(Fiber& fiber, const Condition& holds) {
    const auto turn = [this] { return Turn{.now_ns = context_->clock->NowNanos(), .held_up = true}; };
    while (!holds()) {
      fiber.WaitUntil([&] { return holds() || output().WantsTurn(turn()); });
      output().Attend(fiber, turn());
    }
  }

  TaskContext* context_;
  ReadingOrder* order_;
  bool has_event_times_;
  std::size_t part_;
  bool ended_ = false;
};

}  // namespace glaive::engine

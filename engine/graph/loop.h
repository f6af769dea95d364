// Loop: what the operators of a loop share on one executor: the state, and the records that are fed back.
//
//   input ──► head ──► body ──┬──► stage: the aggregate of ──► leader of the loop ──┐ a decision: the new state, and
//              ▲              │    the iteration, late merge    on one executor     │ whether an iteration follows
//              │              └──► fed back, where the loop iterates ─┐             ▼
//              └───────────────────────────────────────────────────  end ◄── exchange, to every executor
//                                                                     └──► results: the state, the last records
//
// A loop runs in iterations. Event times of the body are the numbers of iterations: the records of iteration r have
// event time r, and a watermark of r + 1 ends the iteration. So windows of one millisecond are windows of one
// iteration, and the ends of iterations need no messages of their own: stages and exchanges carry watermarks. Numbers
// of iterations go on where a loop runs several times, inside of another loop's body.
//
// By an exchange in the body, an executor may send records of an iteration to one that has not begun it yet: that one
// has finished the iteration before, and not received the decision. So records that are fed back are stored by
// iteration, and a step that reads the state first waits until its own executor has begun the iteration of its record.
//
// The operators: loop_head.h, loop_leader.h, loop_end.h, and steps that read the state (loop_step.h).
// loop_store.h has the stored records.
#pragma once

#include <cstdint>

#include "engine/fiber/fiber.h"
#include "engine/graph/loop_store.h"

namespace glaive::engine {

/// The message from the leader of a loop to all executors, at the end of an iteration.
template <typename State>
struct LoopDecision {
  std::uint64_t goes_on;  // 1: another iteration follows
  State state;
};

/// What a finished loop hands to its results on one executor: the last state.
template <typename State>
struct LoopOutcome {
  std::uint64_t executor;
  State state;
};

/// A loop on one executor, for the steps of its body.
class LoopProgress {
 public:
  virtual ~LoopProgress() = default;
  /// Whether the executor has begun an iteration. Records of other executors may come before.
  virtual bool has_begun(std::int64_t iteration) const = 0;
};

/// The state of a loop on one executor: that of the iteration which it has begun last.
template <typename State>
class StateOfLoop {
 public:
  virtual ~StateOfLoop() = default;
  virtual const State& state() const = 0;
};

/// A loop over records R, as its end uses it. Its head implements it.
template <typename State, typename R>
class Loop : public StateOfLoop<State>, public LoopProgress {
 public:
  /// Stores a record of an iteration for the next one, or for the loop's results.
  virtual void FeedBack(Fiber& fiber, std::int64_t iteration, const R& record) = 0;
  /// The iteration has ended: the next one begins, or the loop ends.
  virtual void OnDecision(const LoopDecision<State>& decision) = 0;

  /// Behind a decision that ends the loop: the watermark that its input had come to, and the records that the last
  /// iteration has fed back.
  virtual std::int64_t result_watermark_ms() const = 0;
  virtual const LoopStore<R>& last_records() const = 0;
  /// The results have been handed on: the loop may run again.
  virtual void OnResults() = 0;
};

}  // namespace glaive::engine

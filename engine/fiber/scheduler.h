// Scheduler: runs the fibers of one executor, cooperatively, on one thread (paper section 5.3).
//
// Owned by its executor; nothing of it is global, so several executors can live in one thread and take turns
// round by round. All calls come from one thread at a time.
//
// Invariants:
//  1. A round visits every live fiber exactly once, in the pick policy's order: a ready fiber runs; a parked one is
//     polled, and runs if its predicate is true. An empty ring therefore costs one poll and stalls nobody.
//  2. No fiber runs twice before every other had its visit: none starves while the others give up their turns.
//  3. A stack is reused only after its fiber's frames are gone.
// Costs: a turn (into the fiber and back) 12 to 30 ns, a poll of a parked fiber 3 ns. Spawn allocates; rounds do not.
//
//   Scheduler scheduler({});
//   RETURN_IF_ERROR(scheduler.Spawn("source", FiberKind::kCompute, [&](Fiber& fiber) { ReadAll(fiber); }));
//   while (!scheduler.done()) {
//     if (scheduler.RunRound()) idle.Reset(); else idle.Idle();
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "engine/fiber/fiber.h"
#include "engine/fiber/pick_policy.h"
#include "engine/fiber/stack.h"
#include "engine/fiber/turn_observer.h"
#include "rdma/base/clock.h"

namespace glaive::engine {

/// Pointers are not owned and must outlive the scheduler.
struct SchedulerOptions {
  // Usable bytes of a fiber's stack (more under sanitizers), of which only those that it touches take memory. A call
  // for each operator of a chain lies on it.
  std::size_t stack_bytes = 256 * 1024;
  PickPolicy* pick_policy = nullptr;  // null: RdmaFirstPolicy
  const Clock* clock = nullptr;       // null: FiberStats::longest_run_ns stays 0; else two readings a turn
  TurnObserver* observer = nullptr;   // null: nobody watches
};

/// See the head of this file.
class Scheduler {
 public:
  explicit Scheduler(const SchedulerOptions& options);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  /// Cancels what is left. Not to be called from a fiber.
  ~Scheduler();

  /// Adds a fiber; `body` first runs in the next round, and is destroyed, captures and all, when the fiber ends.
  /// May be called from a fiber. `name` appears in messages and metrics. Fails as Stack::Map does.
  [[nodiscard]] absl::Status Spawn(std::string name, FiberKind kind, std::function<void(Fiber&)> body);

  /// One round; returns whether any fiber ran. False is the idle signal: nothing will run before the world outside
  /// changes. Not to be called from a fiber.
  bool RunRound();
  /// The error of the first fiber that has ended for want of memory or a thread, if any. A change that the fiber was
  /// making may be half done, so its round ends at once, and nothing but Cancel may follow.
  const absl::Status& failure() const { return failure_; }

  /// True when no live fiber is left.
  bool done() const { return live() == 0; }
  /// Fibers that have not finished.
  std::size_t live() const { return order_.size() + spawned_.size() - finished_in_round_; }

  /// Unwinds every suspended fiber, last spawned first, running the destructors on its stack; a fiber that never ran is
  /// dropped without running. Afterwards done(). Not to be called from a fiber. A body that swallows the
  /// unwinding, or suspends during it, ends the process with its name.
  void Cancel();

  /// Stacks mapped so far; finished fibers' stacks are used again.
  std::size_t stacks_mapped() const { return stacks_.mapped(); }

 private:
  void RunFiber(Fiber& fiber);
  void Retire(Fiber& fiber);
  void DropFinished();

  const Clock* clock_;
  TurnObserver* observer_;
  RdmaFirstPolicy rdma_first_;
  PickPolicy* pick_policy_;
  StackPool stacks_;
  std::vector<std::unique_ptr<Fiber>> fibers_;  // all ever spawned
  std::vector<Fiber*> order_;                   // the live ones, in the last round's order
  std::vector<Fiber*> spawned_;                 // not yet in order_
  std::uint64_t round_ = 0;
  std::size_t finished_in_round_ = 0;  // finished fibers still in order_
  Fiber* running_ = nullptr;
  bool cancelling_ = false;
  absl::Status failure_;
};

}  // namespace glaive::engine

// Fiber: a function with a stack of its own that gives the processor back by itself.
//
// Owned by the Scheduler that spawned it and valid until that ends, so that its statistics can be read
// after it has finished. Only the scheduler's thread touches it; Yield and WaitUntil are for the fiber's own
// body. A fiber never changes threads and must not block in the kernel: its executor would stand still.
//
// Rules for a body:
//  1. It gives up its turn within about 50 us; inbound rings fill while it runs.
//  2. When it has nothing to do it calls WaitUntil; a body that polls by Yield alone keeps the executor awake.
//  3. It may be unwound at any Yield or WaitUntil (Scheduler::Cancel): destructors run, and must not suspend.
//     `catch (...)` around either call must rethrow, and no function between them and the body is noexcept.
//  4. It does not suspend inside a catch block: the exception being handled is known to the thread, not the fiber.
//
//   void Receive(Fiber& fiber) {
//     while (!closed) {
//       fiber.WaitUntil([&] { return receiver.Ready() || closed; });
//       MergeWhatArrived();
//     }
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/base/optimization.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "engine/fiber/context.h"

namespace glaive::engine {

/// The main work of a fiber. The default pick policy runs RDMA fibers first (paper section 5.3).
enum class FiberKind : std::uint8_t {
  kRdma,     // polls rings, merges what arrived, sends
  kCompute,  // reads sources, triggers windows, feeds sinks
};

/// Counters of a fiber's turns.
struct FiberStats {
  std::uint64_t switches = 0;       // turns: times it was given the processor
  std::int64_t longest_run_ns = 0;  // longest turn; 0 unless the scheduler was given a clock
};

/// See the head of this file.
class Fiber {
 public:
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() = default;

  const std::string& name() const { return name_; }
  FiberKind kind() const { return kind_; }
  const FiberStats& stats() const { return stats_; }
  /// True once the body has returned or was unwound.
  bool finished() const { return state_ == State::kFinished; }

  /// Ends the turn; the fiber runs again in the next round. Two switches, together 12 to 30 ns.
  void Yield();

  /// Ends the turn; the fiber runs again in the first round in which `ready()` is true at its place in the order.
  /// On return `ready()` has just been true and no other fiber has run since. `ready` is called once a round, from the
  /// scheduler's stack: it must be cheap, and must neither suspend nor throw. Nothing is allocated.
  void WaitUntil(absl::FunctionRef<bool()> ready);

 private:
  friend class Scheduler;

  enum class State : std::uint8_t { kReady, kParked, kRunning, kUnwinding, kFinished };

  Fiber(Stack stack, std::size_t top_offset, std::string name, FiberKind kind, std::function<void(Fiber&)> body);

  void Suspend(State state);
  /// Runs the body to its end, on the fiber's stack. Memory or a thread that it could not have is its failure; any
  /// other exception that leaves it ends the process.
  void RunBody();
  /// Says why the fiber cannot suspend now.
  [[noreturn]] void RefuseToSuspend() const;

  State state_ = State::kReady;
  FiberKind kind_;
  std::uint64_t visited_in_round_ = 0;
  FiberStats stats_;
  std::optional<absl::FunctionRef<bool()>> ready_;  // to a callable on the fiber's stack, while parked
  Context context_;
  std::string name_;
  std::function<void(Fiber&)> body_;
  absl::Status failure_;
};

// Inlined into the body by force: after a switch the processor's stack of return addresses belongs to somebody else, so
// every return between here and the body's loop would be mispredicted, at the price of a whole switch each.

[[gnu::always_inline]] inline void Fiber::Suspend(State state) {
  if (ABSL_PREDICT_FALSE(state_ != State::kRunning)) {
    RefuseToSuspend();
  }
  state_ = state;
  context_.Suspend();
}

[[gnu::always_inline]] inline void Fiber::Yield() { Suspend(State::kReady); }

[[gnu::always_inline]] inline void Fiber::WaitUntil(absl::FunctionRef<bool()> ready) {
  ready_.emplace(ready);
  Suspend(State::kParked);
}

}  // namespace glaive::engine

// TurnObserver: watches as a scheduler visits its fibers; for tests that record or disturb what happens between turns.
//
// Injected into a Scheduler, called on its thread, from outside of any fiber. It must not call the scheduler.
#pragma once

namespace glaive::engine {

class Fiber;

class TurnObserver {
 public:
  virtual ~TurnObserver() = default;

  /// `fiber` will now be asked whether it is ready.
  virtual void BeforeVisit(const Fiber& fiber) = 0;
  /// `fiber` is ready and will now run.
  virtual void BeforeTurn(const Fiber& fiber) = 0;
};

}  // namespace glaive::engine

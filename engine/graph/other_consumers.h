// OtherConsumers: the other consumers of a producer that one of its consumers holds up.
//
// A consumer may wait in a call, for a slow sink or for other executors, such as for the inbox credit of an exchange.
// The producer's fiber is suspended meanwhile, and no other fiber calls the producer's other consumers. So the one that
// waits gives them the turns that they want (rule 8 of operator.h), because other executors may wait for the epochs
// that they end. The waiting consumer itself gets no turn: a stage that waits for its sink of late records ends no
// epoch meanwhile.
//
//   source ──► output ─┬─► exchange   waits for inbox credit, and attends
//                      └─► stage      ends its epoch, so that the receiver of the exchange can go on
//
// Output (output.h) implements it. Used by its executor's thread alone.
//
//   WaitAndAttend(fiber, *context.clock, others, [&] { return credits_ > 0; });
#pragma once

#include <cstdint>

#include "engine/fiber/fiber.h"
#include "rdma/base/clock.h"

namespace glaive::engine {

class OtherConsumers {
 public:
  virtual ~OtherConsumers() = default;

  /// Whether AttendOthers would do something.
  virtual bool OthersWantTurn(std::int64_t now_ns) const = 0;
  /// Calls Attend of each consumer that wants a turn, but not of the one that is being called, nor of one behind the
  /// end of its stream.
  virtual void AttendOthers(Fiber& fiber, std::int64_t now_ns) = 0;
};

/// Ends the turn and waits until `holds()`, as Fiber::WaitUntil: `holds()` is asked once a round. Meanwhile `others`
/// get the turns that they want; null: there are none.
template <typename Condition>
void WaitAndAttend(Fiber& fiber, const Clock& clock, OtherConsumers* others, const Condition& holds) {
  while (true) {
    bool has_come = false;
    fiber.WaitUntil([&] {
      has_come = holds();
      return has_come || (others != nullptr && others->OthersWantTurn(clock.NowNanos()));
    });
    if (has_come) {
      return;
    }
    others->AttendOthers(fiber, clock.NowNanos());
  }
}

}  // namespace glaive::engine

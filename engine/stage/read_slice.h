// ReadSlice: reads the keys of a slice that is complete, some in each turn.
#pragma once

#include "absl/status/status.h"

#include "engine/fiber/fiber.h"
#include "state/log/state_memory.h"

namespace glaive::engine {

/// Calls `visit(entry)`, which returns a status, for each key of a table, until one is not OK; returns that. Yields
/// where the table has much to go through without calling `visit`, which has to yield itself. ResourceExhausted past
/// the budget.
template <typename Table, typename Visit>
absl::Status ReadSlice(Fiber& fiber, state::StateMemory& memory, Table& table, const Visit& visit) {
  if constexpr (requires { table.moving(); }) {
    while (table.moving()) {
      if (absl::Status status = table.MoveSome(memory, memory.thresholds().entries_per_turn); !status.ok()) {
        return status;
      }
      fiber.Yield();
    }
    return table.ForEach(visit, [&] { fiber.Yield(); });
  } else {
    return table.ForEach(visit);
  }
}

}  // namespace glaive::engine

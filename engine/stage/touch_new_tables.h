// TouchNewTables: takes the pages of large new tables from the system, some in each turn, before they are used at
// random.
#pragma once

#include "engine/fiber/fiber.h"
#include "state/log/state_memory.h"

namespace glaive::engine {

/// Yields until StateMemory::TouchSome has nothing left to take.
inline void TouchNewTables(Fiber& fiber, state::StateMemory& memory) {
  if (!memory.has_untouched()) [[likely]] {
    return;  // called for each group of updates
  }
  while (memory.TouchSome(memory.thresholds().cleaned_bytes_per_turn)) {
    fiber.Yield();
  }
}

}  // namespace glaive::engine

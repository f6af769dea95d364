// Turn: the time, and whether the producer is held up, for a consumer that gets a turn (rule 7 of operator.h).
#pragma once

#include <cstdint>

namespace glaive::engine {

struct Turn {
  std::int64_t now_ns = 0;
  /// The producer waits for other flows, for inbox credit or for a sink. Else it goes on, or waits for something to
  /// read, so that a consumer without records may call its stream idle.
  bool held_up = false;
};

}  // namespace glaive::engine

#include "queries/ro/generator.h"

namespace glaive::queries::ro {

Item ItemGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  return {.key = keys().Draw(draw(0)), .event_time_ms = event_time_ms};
}

}  // namespace glaive::queries::ro

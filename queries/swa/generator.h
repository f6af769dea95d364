// AirEventGenerator: advertising events of 136 bytes; see queries/common/generator.h. Kinds are uniform, ids random.
#pragma once

#include <cstdint>

#include "queries/common/generator.h"
#include "queries/swa/air_event.h"

namespace glaive::queries::swa {

class AirEventGenerator final : public DrawnGenerator<AirEvent, 6> {
 public:
  /// `options` must be valid.
  explicit AirEventGenerator(const InputOptions& options) : DrawnGenerator(options) {}

 private:
  AirEvent Make(std::int64_t event_time_ms, const Draws& draw) const override;
};

}  // namespace glaive::queries::swa

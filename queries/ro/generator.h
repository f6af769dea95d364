// ItemGenerator: items of uniform keys, or of any other distribution; see queries/common/generator.h.
#pragma once

#include <cstdint>

#include "queries/common/generator.h"
#include "queries/ro/item.h"

namespace glaive::queries::ro {

class ItemGenerator final : public DrawnGenerator<Item, 1> {
 public:
  /// `options` must be valid.
  explicit ItemGenerator(const InputOptions& options) : DrawnGenerator(options) {}

 private:
  Item Make(std::int64_t event_time_ms, const Draws& draw) const override;
};

}  // namespace glaive::queries::ro

// ItemGenerator: items of uniform keys, or of any other distribution; see queries/common/generator.h.
#pragma once

#include <cstdint>
#include <span>

#include "queries/common/generator.h"
#include "queries/ro/item.h"

namespace glaive::queries::ro {

class ItemGenerator final : public Generator<Item> {
 public:
  /// `options` must be valid.
  explicit ItemGenerator(const InputOptions& options)
      : seed_(options.seed), timeline_(options.timeline), keys_(options.keys) {}

  void Fill(std::uint32_t executor, std::uint64_t first, std::span<Item> items) const override;

 private:
  std::uint64_t seed_;
  Timeline timeline_;
  KeyDistribution keys_;
};

}  // namespace glaive::queries::ro

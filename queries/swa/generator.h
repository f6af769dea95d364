// AirEventGenerator: advertising events of 136 bytes; see queries/common/generator.h. Kinds are uniform, ids random.
#pragma once

#include <cstdint>
#include <span>

#include "queries/common/generator.h"
#include "queries/swa/air_event.h"

namespace glaive::queries::swa {

class AirEventGenerator final : public Generator<AirEvent> {
 public:
  /// `options` must be valid.
  explicit AirEventGenerator(const InputOptions& options)
      : seed_(options.seed), timeline_(options.timeline), ads_(options.keys) {}

  void Fill(std::uint32_t executor, std::uint64_t first, std::span<AirEvent> events) const override;

 private:
  std::uint64_t seed_;
  Timeline timeline_;
  KeyDistribution ads_;
};

}  // namespace glaive::queries::swa

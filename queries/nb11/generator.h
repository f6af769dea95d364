// BidGenerator: bids of bidders, some of whom bid far more often than others; see queries/common/generator.h. Prices
// are NEXMark's (queries/nexmark/draws.h).
#pragma once

#include <cstdint>

#include "queries/common/generator.h"
#include "queries/nexmark/bid.h"

namespace glaive::queries::nb11 {

class BidGenerator final : public DrawnGenerator<nexmark::Bid, 3> {
 public:
  /// `options` must be valid.
  explicit BidGenerator(const InputOptions& options) : DrawnGenerator(options) {}

 private:
  nexmark::Bid Make(std::int64_t event_time_ms, const Draws& draw) const override;
};

}  // namespace glaive::queries::nb11

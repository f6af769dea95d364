// BidGenerator: bids for auctions that some keys get far more of than others; see queries/common/generator.h. Prices
// are NEXMark's: 10^(6u) dollars for a uniform u, so as many below 10 dollars as from 10 to 100.
#pragma once

#include <cstdint>

#include "queries/common/generator.h"
#include "queries/nb7/bid.h"

namespace glaive::queries::nb7 {

class BidGenerator final : public DrawnGenerator<Bid, 3> {
 public:
  /// `options` must be valid.
  explicit BidGenerator(const InputOptions& options) : DrawnGenerator(options) {}

 private:
  Bid Make(std::int64_t event_time_ms, const Draws& draw) const override;
};

}  // namespace glaive::queries::nb7

// AuctionGenerator: auctions whose sellers some keys are far more often than others; see queries/common/generator.h.
// Prices are NEXMark's (queries/nexmark/draws.h). An id has the executor in its upper 24 bits and the record's number,
// counted from 1, in its lower 40.
#pragma once

#include <cstdint>

#include "queries/common/generator.h"
#include "queries/nexmark/auction.h"

namespace glaive::queries::nexmark {

class AuctionGenerator final : public DrawnGenerator<Auction, 5> {
 public:
  /// `options` must be valid.
  explicit AuctionGenerator(const InputOptions& options) : DrawnGenerator(options) {}

 private:
  Auction Make(std::int64_t event_time_ms, const Draws& draw) const override;
};

}  // namespace glaive::queries::nexmark

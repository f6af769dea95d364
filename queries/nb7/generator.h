// BidGenerator: bids for auctions that some keys get far more of than others; see queries/common/generator.h. Prices
// are NEXMark's: 10^(6u) dollars for a uniform u, so as many below 10 dollars as from 10 to 100.
#pragma once

#include <cstdint>
#include <span>

#include "queries/common/generator.h"
#include "queries/nb7/bid.h"

namespace glaive::queries::nb7 {

class BidGenerator final : public Generator<Bid> {
 public:
  /// `options` must be valid.
  explicit BidGenerator(const InputOptions& options)
      : seed_(options.seed), timeline_(options.timeline), keys_(options.keys) {}

  void Fill(std::uint32_t executor, std::uint64_t first, std::span<Bid> bids) const override;

 private:
  std::uint64_t seed_;
  Timeline timeline_;
  KeyDistribution keys_;
};

}  // namespace glaive::queries::nb7

#include "queries/nb7/generator.h"

#include "queries/common/random.h"
#include "queries/nexmark/draws.h"

namespace glaive::queries::nb7 {
namespace {

constexpr std::uint64_t kBidders = 1'000'000;

}  // namespace

nexmark::Bid BidGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  return {.auction = keys().Draw(draw(0)),
          .bidder = 1 + Below(kBidders, draw(1)),
          .price = nexmark::Price(draw(2)),
          .event_time_ms = event_time_ms};
}

}  // namespace glaive::queries::nb7

#include "queries/nb7/generator.h"

#include <cmath>

#include "queries/common/random.h"

namespace glaive::queries::nb7 {
namespace {

constexpr std::uint64_t kBidders = 1'000'000;

}  // namespace

Bid BidGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  return {.auction = keys().Draw(draw(0)),
          .bidder = 1 + Below(kBidders, draw(1)),
          .price = static_cast<std::uint64_t>(std::llround(std::pow(10, 6 * Unit(draw(2))) * 100)),
          .event_time_ms = event_time_ms};
}

}  // namespace glaive::queries::nb7

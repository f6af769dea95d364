#include "queries/nb11/generator.h"

#include "queries/common/random.h"
#include "queries/nexmark/draws.h"

namespace glaive::queries::nb11 {
namespace {

constexpr std::uint64_t kAuctions = 1'000'000;

}  // namespace

nexmark::Bid BidGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  return {.auction = 1 + Below(kAuctions, draw(1)),
          .bidder = keys().Draw(draw(0)),
          .price = nexmark::Price(draw(2)),
          .event_time_ms = event_time_ms};
}

}  // namespace glaive::queries::nb11

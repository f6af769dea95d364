#include "queries/nb7/generator.h"

#include <cmath>
#include <cstddef>

#include "queries/common/random.h"

namespace glaive::queries::nb7 {
namespace {

constexpr std::uint64_t kBidders = 1'000'000;

}  // namespace

void BidGenerator::Fill(std::uint32_t executor, std::uint64_t first, std::span<Bid> bids) const {
  const std::uint64_t stream = StreamOf(seed_, executor);
  Timeline::Cursor time = timeline_.From(stream, first);
  for (std::size_t i = 0; i < bids.size(); ++i) {
    const RecordDraws<3> draw(stream, first + i);
    bids[i] = {.auction = keys_.Draw(draw(0)),
               .bidder = 1 + Below(kBidders, draw(1)),
               .price = static_cast<std::uint64_t>(std::llround(std::pow(10, 6 * Unit(draw(2))) * 100)),
               .event_time_ms = time.Next()};
  }
}

}  // namespace glaive::queries::nb7

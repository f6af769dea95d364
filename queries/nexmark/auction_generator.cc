#include "queries/nexmark/auction_generator.h"

#include "queries/common/random.h"
#include "queries/nexmark/draws.h"

namespace glaive::queries::nexmark {
namespace {

constexpr int kNumberBits = 40;
constexpr std::uint64_t kFirstCategory = 10;
constexpr std::uint64_t kCategories = 5;
constexpr std::uint64_t kLongestMs = 86'400'000;  // that an auction is open

}  // namespace

Auction AuctionGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  const std::uint64_t initial_bid = Price(draw(1));
  const std::uint64_t misc = draw(3);
  Auction auction;
  auction.id = (std::uint64_t{draw.executor()} << kNumberBits) + draw.number() + 1;
  auction.seller = keys().Draw(draw(0));
  auction.event_time_ms = event_time_ms;
  auction.expires_ms = event_time_ms + 1 + static_cast<std::int64_t>(Below(kLongestMs, misc));
  auction.initial_bid = initial_bid;
  auction.reserve = initial_bid + Price(draw(2));
  auction.category = static_cast<std::uint8_t>(kFirstCategory + Below(kCategories, Mix(misc)));
  FillText(auction.item_name, draw(4));
  FillText(auction.description, draw(4) + 1);
  return auction;
}

}  // namespace glaive::queries::nexmark

// Query 20, expanded bids: the bids with all of their auctions, for auctions of category 10.
//
//   SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.date_time AS bid_date_time, b.extra AS bid_extra,
//          a.item_name, a.description, a.initial_bid, a.reserve, a.date_time AS auction_date_time, a.expires, a.seller,
//          a.category, a.extra AS auction_extra
//   FROM bid AS b JOIN auction AS a ON b.auction = a.id
//   WHERE a.category = 10
#include <cstdint>
#include <tuple>

#include "engine/api/join.h"
#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Auction;
using events::Bid;

struct Q20Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  Text channel;
  Text url;
  std::int64_t bid_date_time;
  Text bid_extra;
  Text item_name;
  Text description;
  std::uint64_t initial_bid;
  std::uint64_t reserve;
  std::int64_t auction_date_time;
  std::int64_t expires;
  std::uint64_t seller;
  std::uint64_t category;
  Text auction_extra;
};
GLAIVE_RECORD(Q20Row, auction, bidder, price, channel, url, bid_date_time, bid_extra, item_name, description,
              initial_bid, reserve, auction_date_time, expires, seller, category, auction_extra)

using BidForAuction = engine::WindowResult<std::uint64_t, std::tuple<Bid, Auction>>;

Q20Row ToQ20Row(const BidForAuction& result) {
  const auto& [bid, auction] = result.value;
  return {.auction = bid.auction,
          .bidder = bid.bidder,
          .price = bid.price,
          .channel = bid.channel,
          .url = bid.url,
          .bid_date_time = bid.date_time,
          .bid_extra = bid.extra,
          .item_name = auction.item_name,
          .description = auction.description,
          .initial_bid = auction.initial_bid,
          .reserve = auction.reserve,
          .auction_date_time = auction.date_time,
          .expires = auction.expires,
          .seller = auction.seller,
          .category = auction.category,
          .auction_extra = auction.extra};
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ20(const Events& events, const SuiteOptions& /*options*/,
                                        const engine::Results& results) {
  const auto all = engine::From(events);
  return engine::Join(engine::Stream(all).FilterMap(events::BidOf{}),
                      engine::Stream(all).FilterMap(events::AuctionOf{}).Filter([](const Auction& auction) {
                        return auction.category == 10;
                      }))
      .On(&Bid::auction, &Auction::id)
      .Window(engine::Unbounded{})
      .Map(&ToQ20Row)
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

// OffersForAuctions: a stream of auctions beside each bid that counts: that comes while the auction is open and reaches
// its reserve. Queries 4, 6 and 9 choose the winning one among those of an auction.
//
//   OffersForAuctions(all, options, &TermsOf, &PriceOf)      // streams OfferFor<Terms, PricedBid>
//       .KeyBy(&OfferFor<Terms, PricedBid>::key)             // the auction
//       .Aggregate(...)
//
// An auction and a bid meet when both have been read. The join holds all of them until the stream ends.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/api/join.h"
#include "engine/api/stream.h"
#include "queries/nexmark/suite/query_definition.h"

namespace glaive::queries::nexmark::suite {

/// What queries 4 and 6 ask of an auction.
struct Terms {
  std::int64_t date_time;
  std::int64_t expires;
  std::uint64_t reserve;
  std::uint64_t seller;
  std::uint64_t category;
};

inline Terms TermsOf(const events::Auction& auction) {
  return {.date_time = auction.date_time,
          .expires = auction.expires,
          .reserve = auction.reserve,
          .seller = auction.seller,
          .category = auction.category};
}

/// What queries 4 and 6 ask of a bid.
struct PricedBid {
  std::uint64_t price;
  std::int64_t date_time;
};

inline PricedBid PriceOf(const events::Bid& bid) { return {.price = bid.price, .date_time = bid.date_time}; }

/// By the auction's id: what the join has of it and of a bid.
template <typename OfAuction, typename OfBid>
using OfferFor = engine::WindowResult<std::uint64_t, std::tuple<OfAuction, OfBid>>;

/// The functions say what the stream has of an auction, with `date_time`, `expires` and `reserve`, and of a bid, with
/// `price` and `date_time`. The suite for Flink lets each bid count that comes by the auction's end, whatever its
/// price.
template <typename EventStream, typename OfAuction, typename OfBid>
auto OffersForAuctions(const EventStream& all, const SuiteOptions& options,
                       OfAuction (*of_auction)(const events::Auction&), OfBid (*of_bid)(const events::Bid&)) {
  return engine::Join(engine::Stream(all).FilterMap(events::AuctionOf{}),
                      engine::Stream(all).FilterMap(events::BidOf{}))
      .On(&events::Auction::id, &events::Bid::auction)
      .Window(engine::Unbounded{})
      .Keep(of_auction, of_bid)
      .Filter([any_price = options.any_price_until_the_end_wins](const OfferFor<OfAuction, OfBid>& offer) {
        const auto& [auction, bid] = offer.value;
        return bid.date_time >= auction.date_time &&
               (any_price ? bid.date_time <= auction.expires
                          : bid.date_time < auction.expires && bid.price >= auction.reserve);
      });
}

}  // namespace glaive::queries::nexmark::suite

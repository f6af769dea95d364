// Query 9, winning bids: each auction with the bid that wins it: the highest, of several the first, and of several at
// that time the one of the least bidder.
//
//   SELECT a.id, a.item_name, a.description, a.initial_bid, a.reserve, a.date_time, a.expires, a.seller, a.category,
//          a.extra, b.auction, b.bidder, b.price, b.date_time AS bid_date_time, b.extra AS bid_extra
//   FROM auction AS a JOIN bid AS b ON a.id = b.auction
//   WHERE b.date_time >= a.date_time AND b.date_time < a.expires AND b.price >= a.reserve
//   QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time, b.bidder, b.extra) = 1
//
// The suite for Flink has `b.date_time BETWEEN a.date_time AND a.expires` for the condition.
#include <compare>
#include <cstdint>
#include <optional>
#include <tuple>

#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/winning_bids.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Auction;

struct Q9Row {
  std::uint64_t id;
  Text item_name;
  Text description;
  std::uint64_t initial_bid;
  std::uint64_t reserve;
  std::int64_t date_time;
  std::int64_t expires;
  std::uint64_t seller;
  std::uint64_t category;
  Text extra;
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  std::int64_t bid_date_time;
  Text bid_extra;
};
GLAIVE_RECORD(Q9Row, id, item_name, description, initial_bid, reserve, date_time, expires, seller, category, extra,
              auction, bidder, price, bid_date_time, bid_extra)

/// A bid without its auction. Of several bids of one price, the greatest wins.
struct WinningBid {
  std::uint64_t price;
  std::int64_t date_time;
  std::uint64_t bidder;
  Text extra;

  bool operator==(const WinningBid&) const = default;
  std::strong_ordering operator<=>(const WinningBid& other) const {
    return std::tie(other.date_time, other.bidder, other.extra) <=> std::tie(date_time, bidder, extra);
  }
};
GLAIVE_RECORD(WinningBid, price, date_time, bidder, extra)

/// An auction and a bid for it, in the order of its bids.
struct Sold {
  WinningBid bid;
  Auction auction;

  bool operator==(const Sold& other) const { return bid == other.bid; }
  std::strong_ordering operator<=>(const Sold& other) const { return bid <=> other.bid; }
};
GLAIVE_RECORD(Sold, bid, auction)

using OfferWithTexts = OfferFor<Auction, WinningBid>;
using SoldAuction = engine::WindowResult<std::uint64_t, std::optional<Sold>>;

Auction TheWhole(const Auction& auction) { return auction; }

WinningBid ToWinningBid(const events::Bid& bid) {
  return {.price = bid.price, .date_time = bid.date_time, .bidder = bid.bidder, .extra = bid.extra};
}

Q9Row ToQ9Row(const SoldAuction& sold) {
  const auto& [bid, auction] = *sold.value;
  return {.id = auction.id,
          .item_name = auction.item_name,
          .description = auction.description,
          .initial_bid = auction.initial_bid,
          .reserve = auction.reserve,
          .date_time = auction.date_time,
          .expires = auction.expires,
          .seller = auction.seller,
          .category = auction.category,
          .extra = auction.extra,
          .auction = auction.id,
          .bidder = bid.bidder,
          .price = bid.price,
          .bid_date_time = bid.date_time,
          .bid_extra = bid.extra};
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ9(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results) {
  return OffersForAuctions(engine::From(events), options, &TheWhole, &ToWinningBid)
      .KeyBy(&OfferWithTexts::key)
      .Aggregate(engine::Last{[](const OfferWithTexts& offer) { return std::get<1>(offer.value).price; },
                              [](const OfferWithTexts& offer) {
                                const auto& [auction, bid] = offer.value;
                                return Sold{bid, auction};
                              }})
      .Map(&ToQ9Row)
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

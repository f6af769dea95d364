// Query 18, last bid: of each bidder and auction, the last bid; of several at that time the one of the greatest price,
// and then of the greatest texts.
//
//   SELECT auction, bidder, price, channel, url, date_time, extra
//   FROM bid
//   QUALIFY row_number() OVER (PARTITION BY bidder, auction
//                              ORDER BY date_time DESC, price DESC, channel DESC, url DESC, extra DESC) = 1
#include <compare>
#include <cstdint>
#include <optional>

#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Bid;

struct Q18Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  Text channel;
  Text url;
  std::int64_t date_time;
  Text extra;
};
GLAIVE_RECORD(Q18Row, auction, bidder, price, channel, url, date_time, extra)

struct BidderOfAuction {
  std::uint64_t bidder;
  std::uint64_t auction;
  bool operator==(const BidderOfAuction&) const = default;
};

/// A bid without its key. Of several at one time, the greatest is the last.
struct LastBid {
  std::int64_t date_time;
  std::uint64_t price;
  Text channel;
  Text url;
  Text extra;
  auto operator<=>(const LastBid&) const = default;
};
GLAIVE_RECORD(LastBid, date_time, price, channel, url, extra)

using LastOf = engine::WindowResult<BidderOfAuction, std::optional<LastBid>>;

}  // namespace

std::unique_ptr<engine::Query> BuildQ18(const Events& events, const SuiteOptions& /*options*/,
                                        const engine::Results& results) {
  return engine::From(events)
      .FilterMap(events::BidOf{})
      .KeyBy([](const Bid& bid) { return BidderOfAuction{bid.bidder, bid.auction}; })
      .Aggregate(engine::Last{
          &Bid::date_time,
          [](const Bid& bid) { return LastBid{bid.date_time, bid.price, bid.channel, bid.url, bid.extra}; }})
      .Map([](const LastOf& last) {
        const LastBid& bid = *last.value;
        return Q18Row{last.key.auction, last.key.bidder, bid.price, bid.channel, bid.url, bid.date_time, bid.extra};
      })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

// Query 19, top ten: of each auction, the ten bids of the highest prices with their ranks; of several with a price the
// later one is before, and so on by the other columns.
//
//   SELECT auction, bidder, price, channel, url, date_time, extra, rank_number
//   FROM (SELECT *, row_number() OVER (PARTITION BY auction
//                                      ORDER BY price DESC, date_time DESC, bidder DESC, channel DESC, url DESC,
//                                               extra DESC) AS rank_number
//         FROM bid)
//   WHERE rank_number <= 10
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Bid;

struct Q19Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  Text channel;
  Text url;
  std::int64_t date_time;
  Text extra;
  std::uint64_t rank_number;
};
GLAIVE_RECORD(Q19Row, auction, bidder, price, channel, url, date_time, extra, rank_number)

/// A bid without its auction, in the order of ranks.
struct RankedBid {
  std::uint64_t price;
  std::int64_t date_time;
  std::uint64_t bidder;
  Text channel;
  Text url;
  Text extra;
  auto operator<=>(const RankedBid&) const = default;
};
GLAIVE_RECORD(RankedBid, price, date_time, bidder, channel, url, extra)

using TopBids = engine::WindowResult<std::uint64_t, std::vector<RankedBid>>;

std::vector<Q19Row> ToQ19Rows(const TopBids& top) {
  std::vector<Q19Row> rows;
  for (const RankedBid& bid : top.value) {
    rows.push_back({.auction = top.key,
                    .bidder = bid.bidder,
                    .price = bid.price,
                    .channel = bid.channel,
                    .url = bid.url,
                    .date_time = bid.date_time,
                    .extra = bid.extra,
                    .rank_number = rows.size() + 1});
  }
  return rows;
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ19(const Events& events, const SuiteOptions& /*options*/,
                                        const engine::Results& results) {
  return engine::From(events)
      .FilterMap(events::BidOf{})
      .KeyBy(&Bid::auction)
      .Aggregate(engine::TopK<10>([](const Bid& bid) {
        return RankedBid{bid.price, bid.date_time, bid.bidder, bid.channel, bid.url, bid.extra};
      }))
      .FlatMap(&ToQ19Rows)
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

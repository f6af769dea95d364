// Query 7, highest bid: the bids of the highest price in each 10 s, with all that tie.
//
//   SELECT auction, bidder, price, date_time, extra
//   FROM bid JOIN (SELECT max(price) AS price, window_start FROM TUMBLE(bid, date_time, 10 s) GROUP BY window_start)
//            USING (price, window_start)
#include <cstdint>
#include <optional>
#include <tuple>

#include "engine/api/join.h"
#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Bid;

struct Q7Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  std::int64_t date_time;
  Text extra;
};
GLAIVE_RECORD(Q7Row, auction, bidder, price, date_time, extra)

using Highest = engine::WindowResult<engine::AllRecords, std::uint64_t>;
using HighestBid = engine::WindowResult<std::uint64_t, std::tuple<Q7Row, std::uint64_t>>;

}  // namespace

std::unique_ptr<engine::Query> BuildQ7(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results) {
  const engine::Tumbling window{options.highest_bid_window};
  const auto bids = engine::From(events).FilterMap(&events::BidOf).Map([](const Bid& bid) {
    return Q7Row{bid.auction, bid.bidder, bid.price, bid.date_time, bid.extra};
  });
  return engine::Join(engine::Stream(bids), engine::Stream(bids)
                                                .Window(window)
                                                .AllowedLateness(options.allowed_lateness)
                                                .Aggregate(engine::Max{&Q7Row::price}))
      .On(&Q7Row::price, &Highest::value)
      .Window(window)
      .AllowedLateness(options.allowed_lateness)
      .Keep([](const Q7Row& bid) { return bid; }, &Highest::value)
      .Map([](const HighestBid& result) { return std::get<0>(result.value); })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

// Query 16, statistics of channels: the bids, bidders and auctions of each channel and day, by ranks of prices, and the
// minute of the last bid. The suite for Flink updates the row of a channel with each bid; here is the row behind the
// last bid of the day.
//
//   SELECT channel, date_format(date_time, 'yyyy-MM-dd') AS day, max(date_format(date_time, 'HH:mm')) AS minute,
//          count(*) AS total_bids,
//          count(*) FILTER (price < 10000) AS rank1_bids,
//          count(*) FILTER (price >= 10000 AND price < 1000000) AS rank2_bids,
//          count(*) FILTER (price >= 1000000) AS rank3_bids,
//          count(DISTINCT bidder) AS total_bidders,
//          count(DISTINCT bidder) FILTER (price < 10000) AS rank1_bidders, ...
//          count(DISTINCT auction) AS total_auctions,
//          count(DISTINCT auction) FILTER (price < 10000) AS rank1_auctions, ...
//   FROM bid
//   GROUP BY channel, day
#include <cstdint>
#include <memory>

#include "absl/time/time.h"

#include "engine/api/stream.h"
#include "queries/common/date_texts.h"
#include "queries/nexmark/suite/bid_facets.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

struct Q16Row {
  Text channel;
  Text day;
  Text minute;
  std::uint64_t total_bids;
  std::uint64_t rank1_bids;
  std::uint64_t rank2_bids;
  std::uint64_t rank3_bids;
  std::uint64_t total_bidders;
  std::uint64_t rank1_bidders;
  std::uint64_t rank2_bidders;
  std::uint64_t rank3_bidders;
  std::uint64_t total_auctions;
  std::uint64_t rank1_auctions;
  std::uint64_t rank2_auctions;
  std::uint64_t rank3_auctions;
};
GLAIVE_RECORD(Q16Row, channel, day, minute, total_bids, rank1_bids, rank2_bids, rank3_bids, total_bidders,
              rank1_bidders, rank2_bidders, rank3_bidders, total_auctions, rank1_auctions, rank2_auctions,
              rank3_auctions)

Q16Row ToQ16Row(const DayOfGroup& day) {
  Q16Row row;
  row.channel = day.key;
  row.day = DayOf(day.window_start_ms);
  row.minute = MinuteOf(day.value.latest_ms);
  SetCounts(row, day.value);
  return row;
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ16(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results) {
  return BidsByDay(events, options.allowed_lateness, [](const events::Bid& bid) { return bid.channel; })
      .Map(&ToQ16Row)
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

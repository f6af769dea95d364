// Query 14, calculation.
//
//   SELECT auction, bidder, 0.908 * price AS price,
//          CASE WHEN hour(date_time) BETWEEN 8 AND 18 THEN 'dayTime'
//               WHEN hour(date_time) <= 6 OR hour(date_time) >= 20 THEN 'nightTime'
//               ELSE 'otherTime' END AS bid_time_type,
//          date_time, extra, count_char(extra, 'c') AS c_counts
//   FROM bid
//   WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
#include <algorithm>
#include <string_view>

#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/thousandths.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Bid;

struct Q14Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  Thousandths price;
  Text bid_time_type;
  std::int64_t date_time;
  Text extra;
  std::uint64_t c_counts;
};
GLAIVE_RECORD(Q14Row, auction, bidder, price, bid_time_type, date_time, extra, c_counts)

/// By the hour of the day, UTC.
Text TimeType(std::int64_t date_time) {
  const std::int64_t hour = date_time / 3'600'000 % 24;
  return hour >= 8 && hour <= 18 ? "dayTime" : hour <= 6 || hour >= 20 ? "nightTime" : "otherTime";
}

constexpr auto kIsOfInterest = [](const Bid& bid) {
  const Thousandths euros = InEuros(bid.price);
  return euros > Thousandths{1'000'000'000} && euros < Thousandths{50'000'000'000};
};

Q14Row ToQ14Row(const Bid& bid) {
  return {.auction = bid.auction,
          .bidder = bid.bidder,
          .price = InEuros(bid.price),
          .bid_time_type = TimeType(bid.date_time),
          .date_time = bid.date_time,
          .extra = bid.extra,
          .c_counts = static_cast<std::uint64_t>(std::ranges::count(bid.extra.view(), 'c'))};
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ14(const Events& events, const SuiteOptions& /*options*/,
                                        const engine::Results& results) {
  return engine::From(events).FilterMap(events::BidOf{}).Filter(kIsOfInterest).Map(&ToQ14Row).To(results);
}

}  // namespace glaive::queries::nexmark::suite

// Query 1, currency conversion.
//
//   SELECT auction, bidder, 0.908 * price AS price, date_time, extra FROM bid
#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/rows.h"
#include "queries/nexmark/suite/thousandths.h"

namespace glaive::queries::nexmark::suite {

using events::Bid;

std::unique_ptr<engine::Query> BuildQ1(const Events& events, const SuiteOptions& /*options*/,
                                       const engine::Results& results) {
  return engine::From(events)
      .FilterMap(events::BidOf{})
      .Map([](const Bid& bid) { return Q1Row{bid.auction, bid.bidder, InEuros(bid.price), bid.date_time, bid.extra}; })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

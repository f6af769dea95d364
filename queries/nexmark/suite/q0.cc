// Query 0, pass-through: what it costs to read events and to write rows.
//
//   SELECT auction, bidder, price, date_time, extra FROM bid
#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Bid;

struct Q0Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  std::int64_t date_time;
  Text extra;
};
GLAIVE_RECORD(Q0Row, auction, bidder, price, date_time, extra)

}  // namespace

std::unique_ptr<engine::Query> BuildQ0(const Events& events, const SuiteOptions& /*options*/,
                                       const engine::Results& results) {
  return engine::From(events)
      .FilterMap(events::BidOf{})
      .Map([](const Bid& bid) { return Q0Row{bid.auction, bid.bidder, bid.price, bid.date_time, bid.extra}; })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

// Query 13, join with a bounded side input: the bids with the value that a table has for their auction.
//
//   SELECT auction, bidder, price, date_time, value
//   FROM bid JOIN side_input ON auction % 10000 = side_input.key
//
// Every executor has the table, so no bid moves.
#include <cstdint>
#include <memory>

#include "engine/api/static_table.h"
#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/side_input.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Bid;

struct Q13Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  std::int64_t date_time;
  Text value;
};
GLAIVE_RECORD(Q13Row, auction, bidder, price, date_time, value)

}  // namespace

std::unique_ptr<engine::Query> BuildQ13(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results) {
  const auto table = std::make_shared<const engine::StaticTable<std::uint64_t, Text>>(
      options.side_input != nullptr ? *options.side_input : AllSideKeys());
  return engine::From(events)
      .FilterMap(events::BidOf{})
      .JoinTable(
          table, [](const Bid& bid) { return bid.auction % kSideInputKeys; },
          [](const Bid& bid, const Text& value) {
            return Q13Row{bid.auction, bid.bidder, bid.price, bid.date_time, value};
          })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

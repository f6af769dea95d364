// Query 2, selection.
//
//   SELECT auction, price FROM bid WHERE auction % 123 = 0
#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/rows.h"

namespace glaive::queries::nexmark::suite {

using events::Bid;

std::unique_ptr<engine::Query> BuildQ2(const Events& events, const SuiteOptions& /*options*/,
                                       const engine::Results& results) {
  return engine::From(events)
      .FilterMap(events::BidOf{})
      .Filter([](const Bid& bid) { return bid.auction % 123 == 0; })
      .Map([](const Bid& bid) { return Q2Row{bid.auction, bid.price}; })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

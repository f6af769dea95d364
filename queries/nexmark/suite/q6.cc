// Query 6, average selling price by seller: the mean of the winning prices of a seller's last ten auctions, in whole
// cents, rounded down. Auctions come in the order of their ends, and of their ids where those tie. The suite for Beam
// updates a seller's row with each auction; here is the row behind the last one.
//
//   SELECT seller, avg(final) AS avg_price
//   FROM (SELECT a.id, a.seller, max(b.price) AS final,
//                row_number() OVER (PARTITION BY a.seller ORDER BY a.expires DESC, a.id DESC) AS place
//         FROM auction AS a JOIN bid AS b ON a.id = b.auction
//         WHERE b.date_time >= a.date_time AND b.date_time < a.expires AND b.price >= a.reserve
//         GROUP BY a.id, a.seller, a.expires)
//   WHERE place <= 10
//   GROUP BY seller
#include <compare>
#include <cstdint>
#include <tuple>
#include <vector>

#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/winning_bids.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

struct Q6Row {
  std::uint64_t seller;
  std::uint64_t avg_price;
};
GLAIVE_RECORD(Q6Row, seller, avg_price)

struct AuctionOfSeller {
  std::uint64_t auction;
  std::uint64_t seller;
  std::int64_t expires;
  bool operator==(const AuctionOfSeller&) const = default;
};

/// In the order of the auctions.
struct Sale {
  std::int64_t expires;
  std::uint64_t auction;
  std::uint64_t price;
  auto operator<=>(const Sale&) const = default;
};

using Offer = OfferFor<Terms, PricedBid>;
using WinningSale = engine::WindowResult<AuctionOfSeller, std::uint64_t>;
using LastSales = engine::WindowResult<std::uint64_t, std::vector<Sale>>;

Q6Row ToQ6Row(const LastSales& sales) {
  std::uint64_t sum = 0;
  for (const Sale& sale : sales.value) {
    sum += sale.price;
  }
  return {.seller = sales.key, .avg_price = sum / sales.value.size()};
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ6(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results) {
  return OffersForAuctions(engine::From(events), options, &TermsOf, &PriceOf)
      .KeyBy([](const Offer& offer) {
        const Terms& terms = std::get<0>(offer.value);
        return AuctionOfSeller{offer.key, terms.seller, terms.expires};
      })
      .Aggregate(engine::Max{[](const Offer& offer) { return std::get<1>(offer.value).price; }})
      .KeyBy([](const WinningSale& winning) { return winning.key.seller; })
      .Aggregate(engine::TopK<10>(
          [](const WinningSale& winning) { return Sale{winning.key.expires, winning.key.auction, winning.value}; }))
      .Map(&ToQ6Row)
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

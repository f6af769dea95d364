// Query 4, average price for a category: the mean of the winning prices, in whole cents, rounded down.
//
//   SELECT category, avg(final) AS avg_price
//   FROM (SELECT a.id, a.category, max(b.price) AS final
//         FROM auction AS a JOIN bid AS b ON a.id = b.auction
//         WHERE b.date_time >= a.date_time AND b.date_time < a.expires AND b.price >= a.reserve
//         GROUP BY a.id, a.category)
//   GROUP BY category
//
// The suite for Flink has `b.date_time BETWEEN a.date_time AND a.expires` for the condition.
#include <cstdint>
#include <tuple>

#include "absl/numeric/int128.h"

#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/winning_bids.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

struct Q4Row {
  std::uint64_t category;
  std::uint64_t avg_price;
};
GLAIVE_RECORD(Q4Row, category, avg_price)

struct AuctionOfCategory {
  std::uint64_t auction;
  std::uint64_t category;
  bool operator==(const AuctionOfCategory&) const = default;
};

using Offer = OfferFor<Terms, PricedBid>;
using WinningPrice = engine::WindowResult<AuctionOfCategory, std::uint64_t>;
using PricesOfCategory = engine::WindowResult<std::uint64_t, std::tuple<absl::int128, std::uint64_t>>;

}  // namespace

std::unique_ptr<engine::Query> BuildQ4(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results) {
  return OffersForAuctions(engine::From(events), options, &TermsOf, &PriceOf)
      .KeyBy([](const Offer& offer) { return AuctionOfCategory{offer.key, std::get<0>(offer.value).category}; })
      .Aggregate(engine::Max{[](const Offer& offer) { return std::get<1>(offer.value).price; }})
      .KeyBy([](const WinningPrice& winning) { return winning.key.category; })
      .Aggregate(engine::Several{engine::Sum{&WinningPrice::value}, engine::Count{}})
      .Map([](const PricesOfCategory& prices) {
        const auto& [sum, count] = prices.value;
        return Q4Row{prices.key, static_cast<std::uint64_t>(sum) / count};
      })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite

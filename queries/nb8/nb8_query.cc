#include "queries/nb8/nb8_query.h"

#include <utility>

#include "engine/api/join.h"

namespace glaive::queries::nb8 {

using nexmark::Auction;
using nexmark::Seller;

std::unique_ptr<engine::Query> BuildNb8(const Nb8Options& options,
                                        const engine::SourceSpec<Auction, nexmark::AuctionTime>& auctions,
                                        const engine::SourceSpec<Seller, nexmark::SellerTime>& sellers,
                                        const ResultSinks& sinks) {
  const auto join_in = [&](auto joined, auto windows) {
    return std::move(joined)
        .On([](const Auction& auction) { return auction.seller; }, [](const Seller& seller) { return seller.id; })
        .Window(windows)
        .AllowedLateness(options.allowed_lateness)
        .Keep([](const Auction& auction) { return auction.id; },
              [](const Seller& seller) { return seller.event_time_ms; })
        .To(sinks);
  };
  const auto join = [&](auto joined) {
    return options.windows == WindowKind::kSliding
               ? join_in(std::move(joined), engine::Sliding{options.window, options.slide})
               : join_in(std::move(joined), engine::Tumbling{options.window});
  };
  switch (options.join) {
    case JoinKind::kLeft:
      return join(engine::LeftJoin(engine::From(auctions), engine::From(sellers)));
    case JoinKind::kFull:
      return join(engine::FullJoin(engine::From(auctions), engine::From(sellers)));
    case JoinKind::kInner:
      break;
  }
  return join(engine::Join(engine::From(auctions), engine::From(sellers)));
}

}  // namespace glaive::queries::nb8

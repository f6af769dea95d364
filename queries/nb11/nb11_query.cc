#include "queries/nb11/nb11_query.h"

#include "engine/api/join.h"
#include "queries/nb11/bid_offer.h"

namespace glaive::queries::nb11 {

using nexmark::Bid;
using nexmark::Seller;

std::unique_ptr<engine::Query> BuildNb11(const engine::SourceSpec<Bid, nexmark::BidTime>& bids,
                                         const engine::SourceSpec<Seller, nexmark::SellerTime>& sellers,
                                         absl::Duration gap, absl::Duration allowed_lateness,
                                         const ResultSinks& sinks) {
  return engine::Join(engine::From(bids), engine::From(sellers))
      .On([](const Bid& bid) { return bid.bidder; }, [](const Seller& seller) { return seller.id; })
      .Window(engine::Session{gap})
      .AllowedLateness(allowed_lateness)
      .Keep([](const Bid& bid) { return BidOffer{.auction = bid.auction, .price = bid.price}; },
            [](const Seller& seller) { return seller.event_time_ms; })
      .To(sinks);
}

}  // namespace glaive::queries::nb11

// NB11, the query of NEXMark that Slash's evaluation runs (paper section 8.1.2): which bids have been made in the same
// session as their bidder's registration.
//
//   SELECT bidder, auction, price, sellers.event_time FROM bids JOIN sellers ON bids.bidder = sellers.id
//   WITHIN SESSION(event_time, 10 s)
//
// A session goes on as long as the next record with the key, bid or seller, comes less than the gap after one of it.
#pragma once

#include <memory>

#include "absl/time/time.h"

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/common/result_sinks.h"
#include "queries/nexmark/bid.h"
#include "queries/nexmark/seller.h"

namespace glaive::queries::nb11 {

/// Rows of {session, bidder, {auction and price of the bid, when the seller registered}}.
std::unique_ptr<engine::Query> BuildNb11(const engine::SourceSpec<nexmark::Bid, nexmark::BidTime>& bids,
                                         const engine::SourceSpec<nexmark::Seller, nexmark::SellerTime>& sellers,
                                         absl::Duration gap, absl::Duration allowed_lateness, const ResultSinks& sinks);

}  // namespace glaive::queries::nb11

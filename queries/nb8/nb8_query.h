// NB8, the query of NEXMark that Slash's evaluation runs (paper section 8.1.2): who has registered as a seller and
// opened auctions in the same 12 hours.
//
//   SELECT seller, auctions.id, sellers.event_time FROM auctions JOIN sellers ON auctions.seller = sellers.id
//   WITHIN TUMBLE(event_time, 12 h)
//
// The benchmark's join is an inner one in tumbling windows. The other kinds are here to be tried and proven.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/time/time.h"

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/common/join_kind.h"
#include "queries/common/result_sinks.h"
#include "queries/nexmark/auction.h"
#include "queries/nexmark/seller.h"

namespace glaive::queries::nb8 {

enum class WindowKind : std::uint8_t { kTumbling, kSliding };

struct Nb8Options {
  JoinKind join = JoinKind::kInner;
  WindowKind windows = WindowKind::kTumbling;
  absl::Duration window = absl::Hours(12);
  absl::Duration slide = absl::Hours(1);  // of sliding windows
  absl::Duration allowed_lateness = absl::ZeroDuration();
};

/// Rows of {window, seller, {the auction's id, when the seller registered}}: of a left join the second may be empty, of
/// a full one either.
std::unique_ptr<engine::Query> BuildNb8(const Nb8Options& options,
                                        const engine::SourceSpec<nexmark::Auction, nexmark::AuctionTime>& auctions,
                                        const engine::SourceSpec<nexmark::Seller, nexmark::SellerTime>& sellers,
                                        const ResultSinks& sinks);

}  // namespace glaive::queries::nb8

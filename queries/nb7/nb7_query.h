// NB7, the query of NEXMark that Slash's evaluation runs: the highest price bid for each auction in each minute.
//
//   SELECT auction, MAX(price) FROM bids GROUP BY auction, TUMBLE(event_time, 1 min)
#pragma once

#include <memory>

#include "absl/time/time.h"

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/common/result_sinks.h"
#include "queries/nexmark/bid.h"

namespace glaive::queries::nb7 {

/// Rows of {window, auction, price}.
std::unique_ptr<engine::Query> BuildNb7(const engine::SourceSpec<nexmark::Bid, nexmark::BidTime>& bids,
                                        absl::Duration window, absl::Duration allowed_lateness,
                                        const ResultSinks& sinks);

}  // namespace glaive::queries::nb7

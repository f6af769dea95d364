// NB7, the query of NEXMark that Slash's evaluation runs: the highest price bid for each auction in each minute.
//
//   SELECT auction, MAX(price) FROM bids GROUP BY auction, TUMBLE(event_time, 1 min)
#pragma once

#include <memory>

#include "absl/time/time.h"

#include "engine/api/stream.h"
#include "queries/nb7/bid.h"

namespace glaive::queries::nb7 {

template <typename Events, typename Sink>
std::unique_ptr<engine::Query> BuildNb7(const Events& bids, absl::Duration window, absl::Duration allowed_lateness,
                                        const Sink& sink) {
  return engine::From(bids)
      .KeyBy(&Bid::auction)
      .Window(engine::Tumbling{window})
      .AllowedLateness(allowed_lateness)
      .Aggregate(engine::Max{&Bid::price})
      .To(sink);
}

}  // namespace glaive::queries::nb7

#include "queries/nb7/nb7_query.h"

#include "engine/api/stream.h"

namespace glaive::queries::nb7 {

std::unique_ptr<engine::Query> BuildNb7(const engine::SourceSpec<nexmark::Bid, nexmark::BidTime>& bids,
                                        absl::Duration window, absl::Duration allowed_lateness,
                                        const ResultSinks& sinks) {
  return engine::From(bids)
      .KeyBy(&nexmark::Bid::auction)
      .Window(engine::Tumbling{window})
      .AllowedLateness(allowed_lateness)
      .Aggregate(engine::Max{&nexmark::Bid::price})
      .To(sinks);
}

}  // namespace glaive::queries::nb7

// YSB*, the Yahoo Streaming Benchmark as AIR extends it (section 5.1.3): how many clicks each campaign has for a view,
// in each window of 10 s.
//
//   SELECT campaign, clicks.count / views.count
//   FROM (SELECT campaign, COUNT(*) FROM events JOIN ads USING (ad_id) WHERE event_type = 'click'
//         GROUP BY campaign, TUMBLE(event_time, 10 s)) AS clicks
//   JOIN (the same of event_type = 'view') AS views USING (campaign, window)
#pragma once

#include <memory>

#include "absl/time/time.h"

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/common/result_sinks.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::queries::ysb_star {

/// Rows of {window, campaign, ratio}, of campaigns that have both clicks and views in the window. The events' ads are
/// the generator's (queries/ysb/campaigns.h).
std::unique_ptr<engine::Query> BuildYsbStar(const engine::SourceSpec<ysb::YsbEvent, ysb::YsbEventTime>& events,
                                            absl::Duration window, absl::Duration allowed_lateness,
                                            const ResultSinks& sinks);

}  // namespace glaive::queries::ysb_star

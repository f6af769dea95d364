// The Yahoo Streaming Benchmark as a Glaive query: how many views each key has in each tumbling window.
//
//   slash  SELECT ad_id, COUNT(*) FROM events WHERE event_type = 'view' GROUP BY ad_id, TUMBLE(event_time, 10 min)
//   yahoo  SELECT campaign, COUNT(*) FROM events JOIN ads USING (ad_id) WHERE event_type = 'view'
//          GROUP BY campaign, TUMBLE(event_time, 10 s)
#pragma once

#include <memory>

#include "absl/time/time.h"

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/common/result_sinks.h"
#include "queries/ysb/campaigns.h"
#include "queries/ysb/generator.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::queries::ysb {

struct YsbOptions {
  Profile profile = Profile::kSlash;
  absl::Duration window = absl::Milliseconds(kSlashWindowMs);
  absl::Duration allowed_lateness = absl::ZeroDuration();
  std::shared_ptr<const CampaignTable> campaigns = nullptr;  // yahoo: of the events' ads; null: the generator's
};

/// Counts views by ad (slash) or campaign (yahoo): rows of {window, key, count}.
std::unique_ptr<engine::Query> BuildYsb(const YsbOptions& options,
                                        const engine::SourceSpec<YsbEvent, YsbEventTime>& events,
                                        const ResultSinks& sinks);

}  // namespace glaive::queries::ysb

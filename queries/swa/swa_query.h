// SWA, AIR's simple windowed aggregation: how many events there are in each window, of all ads or of each.
//
//   SELECT COUNT(*) FROM events GROUP BY TUMBLE(event_time, 10 s)
//
// The benchmark's windows are tumbling ones of 10 s over all events. The other kinds are here to be tried and proven.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/common/result_sinks.h"
#include "queries/swa/air_event.h"

namespace glaive::queries::swa {

enum class WindowKind : std::uint8_t { kTumbling, kSliding, kSession, kUnbounded };
enum class GroupBy : std::uint8_t { kAll, kAd };

struct SwaOptions {
  WindowKind windows = WindowKind::kTumbling;
  GroupBy group_by = GroupBy::kAll;
  absl::Duration window = absl::Seconds(10);  // the gap of sessions, the time between unbounded results
  absl::Duration slide = absl::Seconds(1);    // of sliding windows
  absl::Duration allowed_lateness = absl::ZeroDuration();
  std::string late_output = {};  // CSV file of what is late, or empty
};

/// Rows of {window, ad, count}, or without the ad.
std::unique_ptr<engine::Query> BuildSwa(const SwaOptions& options,
                                        const engine::SourceSpec<AirEvent, AirEventTime>& events,
                                        const ResultSinks& sinks);

}  // namespace glaive::queries::swa

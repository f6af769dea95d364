// Cluster monitoring over the Google cluster trace's task events, in the three forms that the literature runs, and two
// more that cover the other aggregates.
//
//   slash  SELECT job_id, AVG(cpu) FROM events GROUP BY job_id, TUMBLE(event_time, 2 s)
//   cm1    SELECT category, SUM(cpu) FROM events GROUP BY category, HOP(event_time, 1 s, 60 s)
//   cm2    SELECT job_id, SUM(cpu) FROM events WHERE event_type = 3 GROUP BY job_id, HOP(event_time, 1 s, 60 s)
//   machines  SELECT job_id, COUNT(DISTINCT machine_id) FROM events GROUP BY job_id, TUMBLE(event_time, 2 s)
//   all    every other aggregate there is, of a job's CPU requests and task numbers, in one pass; the windows of slash
//
// slash is the Slash paper's (section 8.1.2); cm1 and cm2 are LightSaber's (Theodorakis et al., SIGMOD 2020).
#pragma once

#include <cstdint>
#include <memory>

#include "absl/time/time.h"

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/cm/task_event.h"
#include "queries/common/result_sinks.h"

namespace glaive::queries::cm {

enum class Profile : std::uint8_t { kSlash, kCm1, kCm2, kMachines, kAll };

struct CmOptions {
  Profile profile = Profile::kSlash;
  absl::Duration window = absl::Seconds(2);
  absl::Duration slide = absl::Seconds(2);
  absl::Duration allowed_lateness = absl::ZeroDuration();
};

/// Rows of {window, job or class, result}.
std::unique_ptr<engine::Query> BuildCm(const CmOptions& options,
                                       const engine::SourceSpec<TaskEvent, TaskEventTime>& events,
                                       const ResultSinks& sinks);

}  // namespace glaive::queries::cm

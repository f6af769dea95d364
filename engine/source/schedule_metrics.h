// ScheduleMetrics: how well a source's records are read by their schedule (schedule.h), in the executor's counters.
//
//   schedule_metrics.Note(batch, read_ns, metrics);
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/metrics/node_metrics.h"
#include "engine/source/source.h"

namespace glaive::engine {

class ScheduleMetrics {
 public:
  /// Notes a batch that was read at `read_ns`. Does nothing without times of a schedule.
  template <typename R>
  void Note(const SourceBatch<R>& batch, std::int64_t read_ns, ExecutorMetrics& metrics) {
    if (batch.due_ns == 0) {
      return;
    }
    const auto after = [read_ns](std::int64_t due_ns) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(read_ns - due_ns, 0));
    };
    first_due_ns_ = first_due_ns_ == 0 ? batch.due_ns : first_due_ns_;
    metrics.scheduled_records += batch.records.size();
    metrics.schedule_ns = std::max(metrics.schedule_ns, static_cast<std::uint64_t>(batch.last_due_ns - first_due_ns_));
    metrics.schedule_lag_ns = std::max(metrics.schedule_lag_ns, after(batch.due_ns));
    metrics.last_schedule_lag_ns = after(batch.last_due_ns);
  }

 private:
  std::int64_t first_due_ns_ = 0;  // 0: no batch with a schedule so far
};

}  // namespace glaive::engine

// TaskEventGenerator: task events with the schema and the shape of the Google cluster trace; see
// queries/common/generator.h. The trace itself has 12.5 thousand machines and 672 thousand jobs in 29 days; its
// published analyses (Reiss et al., SoCC 2012) say that few jobs have most of the tasks, so jobs are drawn by the
// options' distribution of keys; that a third of the events submit, and about as many schedule, a task; that
// finished, failed, killed and evicted ones follow in this order; that low priorities and scheduling classes prevail;
// and that most tasks request little: requests fall off as a square of a uniform number, to a quarter of a machine.
//
// Requests are multiples of 2^-16, so that sums of them are exact in any floating-point order.
#pragma once

#include <cstdint>

#include "queries/cm/task_event.h"
#include "queries/common/generator.h"

namespace glaive::queries::cm {

class TaskEventGenerator final : public DrawnGenerator<TaskEvent, 6> {
 public:
  /// `options` must be valid.
  explicit TaskEventGenerator(const InputOptions& options) : DrawnGenerator(options) {}

 private:
  TaskEvent Make(std::int64_t event_time_ms, const Draws& draw) const override;
};

}  // namespace glaive::queries::cm

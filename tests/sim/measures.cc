#include "tests/sim/measures.h"

#include <algorithm>

namespace glaive::sim {

void Measures::Add(const engine::ExecutorMetrics& metrics) {
  credit_stalls += metrics.credit_stalls;
  placement_waits += metrics.placement_waits;
  handed_on += metrics.handed_on;
  segment_waits += metrics.segment_waits;
  exchange_waits += metrics.exchange_waits;
  folded_records += metrics.folded_records;
  appended_records += metrics.appended_records;
  fold_switches += metrics.fold_switches;
  combiner_renewals += metrics.combiner_renewals;
  static_cast<state::TableCounts&>(*this) += metrics;
  opened_ahead += metrics.opened_ahead;
  touched_bytes += metrics.touched_bytes;
  idle_periods += metrics.idle_periods;
  most_laps = std::max(most_laps, metrics.max_ring_laps);
}

}  // namespace glaive::sim

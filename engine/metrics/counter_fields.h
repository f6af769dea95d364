// The counters of ExecutorMetrics as a table: name, member, and how two executors' values are put together. Encoding,
// decoding, adding up and the report's JSON all walk this one table, so a new counter is one line here (and one in
// docs/metrics.md, which a test asks for).
//
// Constants only.
//
//   for (const CounterField& field : kCounterFields) json[field.name] = metrics.*field.member;
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/metrics/node_metrics.h"

namespace glaive::engine {

struct CounterField {
  const char* name;
  std::uint64_t ExecutorMetrics::* member;
  bool is_maximum = false;  ///< put together by the larger one instead of the sum
};

inline constexpr CounterField kCounterFields[] = {
    {"records", &ExecutorMetrics::records},
    {"input_bytes", &ExecutorMetrics::input_bytes},
    {"records_accepted", &ExecutorMetrics::records_accepted},
    {"late_records", &ExecutorMetrics::late_records},
    {"partly_late_records", &ExecutorMetrics::partly_late_records},
    {"idle_periods", &ExecutorMetrics::idle_periods},
    {"idle_ns", &ExecutorMetrics::idle_ns},
    {"bad_records", &ExecutorMetrics::bad_records},
    {"outside_records", &ExecutorMetrics::outside_records},
    {"processor_ns", &ExecutorMetrics::processor_ns},
    {"longest_round_ns", &ExecutorMetrics::longest_round_ns, true},
    {"epochs", &ExecutorMetrics::epochs},
    {"folded_records", &ExecutorMetrics::folded_records},
    {"appended_records", &ExecutorMetrics::appended_records},
    {"fold_switches", &ExecutorMetrics::fold_switches},
    {"combiner_renewals", &ExecutorMetrics::combiner_renewals},
    {"own_entries", &ExecutorMetrics::own_entries},
    {"delta_entries", &ExecutorMetrics::delta_entries},
    {"delta_bytes", &ExecutorMetrics::delta_bytes},
    {"messages", &ExecutorMetrics::messages},
    {"exchanged_records", &ExecutorMetrics::exchanged_records},
    {"exchanged_bytes", &ExecutorMetrics::exchanged_bytes},
    {"exchange_waits", &ExecutorMetrics::exchange_waits},
    {"segment_waits", &ExecutorMetrics::segment_waits},
    {"credit_stalls", &ExecutorMetrics::credit_stalls},
    {"queue_stalls", &ExecutorMetrics::queue_stalls},
    {"credit_writes", &ExecutorMetrics::credit_writes},
    {"placement_waits", &ExecutorMetrics::placement_waits},
    {"handed_on", &ExecutorMetrics::handed_on},
    {"merges", &ExecutorMetrics::merges},
    {"slice_merges", &ExecutorMetrics::slice_merges},
    {"max_ring_laps", &ExecutorMetrics::max_ring_laps, true},
    {"index_growths", &ExecutorMetrics::index_growths},
    {"index_touches", &ExecutorMetrics::index_touches},
    {"opened_ahead", &ExecutorMetrics::opened_ahead},
    {"cell_slices", &ExecutorMetrics::cell_slices},
    {"cell_moves", &ExecutorMetrics::cell_moves},
    {"unfit_cells", &ExecutorMetrics::unfit_cells},
    {"cell_overflows", &ExecutorMetrics::cell_overflows},
    {"replaced_forms", &ExecutorMetrics::replaced_forms},
    {"prefetched_entries", &ExecutorMetrics::prefetched_entries},
    {"folded_ahead", &ExecutorMetrics::folded_ahead},
    {"split_slices", &ExecutorMetrics::split_slices},
    {"state_bytes", &ExecutorMetrics::state_bytes},
    {"touched_bytes", &ExecutorMetrics::touched_bytes},
    {"kept_tuples", &ExecutorMetrics::kept_tuples},
    {"kept_tuple_bytes", &ExecutorMetrics::kept_tuple_bytes},
    {"windows_fired", &ExecutorMetrics::windows_fired},
    {"windows_fired_early", &ExecutorMetrics::windows_fired_early},
    {"results", &ExecutorMetrics::results},
    {"scheduled_records", &ExecutorMetrics::scheduled_records},
    {"schedule_ns", &ExecutorMetrics::schedule_ns, true},
    {"schedule_lag_ns", &ExecutorMetrics::schedule_lag_ns, true},
    {"last_schedule_lag_ns", &ExecutorMetrics::last_schedule_lag_ns, true},
};

/// Puts the counters of `other` into those of `total`; times and latencies are left alone.
inline void AddCounters(ExecutorMetrics& total, const ExecutorMetrics& other) {
  for (const CounterField& field : kCounterFields) {
    std::uint64_t& sum = total.*field.member;
    const std::uint64_t value = other.*field.member;
    sum = field.is_maximum ? std::max(sum, value) : sum + value;
  }
}

}  // namespace glaive::engine

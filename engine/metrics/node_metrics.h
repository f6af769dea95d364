// ExecutorMetrics and NodeMetrics: what a run counts, and how it travels to rank 0 at the end.
//
// Each executor fills its own ExecutorMetrics: plain counters with one writer, no atomics. After the run each node puts
// its executors' into a NodeMetrics, encodes it, and hands it to ControlPlane::AllGather; rank 0 decodes them all and
// builds the RunReport (run_report.h).
//
//   ++metrics.epochs;
//   std::string mine = EncodeNodeMetrics(node);
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/files/result_part.h"
#include "engine/metrics/latency_histogram.h"
#include "state/store/table_counts.h"

namespace glaive::engine {

/// Counters of one executor, those of its tables among them. All start at 0.
struct ExecutorMetrics : state::TableCounts {
  std::uint32_t executor = 0;          ///< number within the run
  std::uint64_t records = 0;           ///< records read from the source
  std::uint64_t input_bytes = 0;       ///< their bytes
  std::uint64_t records_accepted = 0;  ///< that passed the filters, were not late, and reached a window, fold or sink
  std::uint64_t late_records = 0;      ///< records all of whose windows had closed when they were read
  std::uint64_t partly_late_records = 0;  ///< records some of whose windows had; they show in the others
  std::uint64_t idle_periods = 0;         ///< times its source had nothing to read for the idle timeout
  std::uint64_t idle_ns = 0;              ///< how long the executor was idle in all, each timeout left out
  std::uint64_t bad_records = 0;          ///< input skipped because it could not be read
  std::uint64_t outside_records = 0;      ///< input skipped because it says to lie outside the time it covers
  std::string first_bad_record;           ///< where the first bad one is, and why; empty without
  std::int64_t first_batch_ns = 0;        ///< clock when the first batch was read
  std::int64_t last_result_ns = 0;  ///< clock when the last result was handed to the sink, or a feeder had sent all

  std::uint64_t processor_ns = 0;      ///< processor time of its thread, from its first round to its end
  std::uint64_t longest_round_ns = 0;  ///< longest it ran fibers without polling its channels

  std::uint64_t epochs = 0;  ///< epochs this executor ended

  std::uint64_t folded_records = 0;     ///< records folded before they were handed to their leaders
  std::uint64_t appended_records = 0;   ///< records handed to their leaders as entries of their own
  std::uint64_t fold_switches = 0;      ///< times that folding began or ended because it did or did not pay
  std::uint64_t combiner_renewals = 0;  ///< times that a full combiner was read out for newer keys
  std::uint64_t own_entries = 0;        ///< entries that this executor led itself
  std::uint64_t delta_entries = 0;      ///< entries sent to other leaders
  std::uint64_t delta_bytes = 0;        ///< payload bytes sent to other leaders, markers included
  std::uint64_t messages = 0;           ///< messages sent to other executors
  std::uint64_t exchanged_records = 0;  ///< records that exchanges have moved, or left where they were
  std::uint64_t exchanged_bytes = 0;    ///< payload bytes of exchanges sent to other executors
  std::uint64_t exchange_waits = 0;     ///< times records of an exchange waited for a slower executor, or for a segment
  std::uint64_t segment_waits = 0;      ///< times records waited for a segment to come back
  std::uint64_t credit_stalls = 0;      ///< sends put off because a ring was full
  std::uint64_t queue_stalls = 0;       ///< sends put off because a send queue was full
  std::uint64_t credit_writes = 0;      ///< returns of credits to senders
  std::uint64_t placement_waits = 0;    ///< messages whose last byte came before the rest
  std::uint64_t handed_on = 0;          ///< immediate values handed on to other executors of its node
  std::uint64_t opened_ahead = 0;       ///< slices of many keys, opened before their first entries
  std::uint64_t merges = 0;             ///< entries of other executors merged into this leader's state
  std::uint64_t slice_merges = 0;       ///< merges to put sliding windows or sessions together from slices
  std::uint64_t max_ring_laps = 0;      ///< most complete laps of any ring this executor sends into

  std::uint64_t state_bytes = 0;          ///< memory that primary and fragment state have taken
  std::uint64_t touched_bytes = 0;        ///< of large blocks, for which pages were taken in steps
  std::uint64_t kept_tuples = 0;          ///< most tuples that its joins kept at one time
  std::uint64_t kept_tuple_bytes = 0;     ///< all state of the executor then
  std::uint64_t windows_fired = 0;        ///< windows this leader completed
  std::uint64_t windows_fired_early = 0;  ///< of these, before all executors had reached the end of the stream
  std::uint64_t results = 0;              ///< rows this leader handed to the sink

  std::uint64_t scheduled_records = 0;     ///< records that its source was to read at times of a schedule
  std::uint64_t schedule_ns = 0;           ///< from the first of these times to the last
  std::uint64_t schedule_lag_ns = 0;       ///< longest that a record was read after its time
  std::uint64_t last_schedule_lag_ns = 0;  ///< the same of the last record

  LatencyHistogram window_latency;  ///< one sample a fired window
  LatencyHistogram row_latency;     ///< one sample a row that no stage made, and a pair of a join without windows
};

/// Memory of one use, over some executors or nodes, and the pages behind it: channels and state live on large ones
/// where the system gives them.
struct RegionUse {
  std::string what;  ///< "send segments", "rings over shm", "state"
  std::uint64_t bytes = 0;
  std::set<std::string> pages;  ///< "huge", "transparent", "base"
};

/// Adds `more` to the entry of the same use, or behind all others.
void AddRegion(std::vector<RegionUse>& regions, const RegionUse& more);

/// One node's part of the report.
struct NodeMetrics {
  std::uint32_t node = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< most resident memory of the process (see PeakMemoryBytes)
  std::uint64_t ring_bytes = 0;         ///< memory of the rings that others write into
  std::vector<RegionUse> regions = {};  ///< its memory by use
  std::vector<ExecutorMetrics> executors = {};
  std::vector<ResultPart> parts = {};  ///< the files that its executors are about to commit
};

/// One JSON object as text.
std::string EncodeNodeMetrics(const NodeMetrics& metrics);

/// The reverse. kInvalidArgument names the field that is missing or has the wrong type.
absl::StatusOr<NodeMetrics> DecodeNodeMetrics(std::string_view text);

/// The most memory this process has had resident so far, in bytes: VmHWM of /proc/self/status; 0 if that cannot be
/// read. getrusage(2) will not do: its maximum includes the memory of the process that started this one.
std::uint64_t PeakMemoryBytes();

}  // namespace glaive::engine

// Measurement: what one run of the engine or of a hand-written loop took, and what it emitted. A plain value.
#pragma once

#include <cstdint>

#include "queries/common/result_row.h"

namespace glaive::bench {

/// Times of the engine's windows, from the batch that completes one to its last result. All 0 for a loop.
struct WindowLatency {
  std::uint64_t windows = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
};

struct Measurement {
  std::uint64_t records = 0;     // of all executors or threads
  double seconds = 0;            // from the first record read to the last result
  double processor_seconds = 0;  // of the whole process meanwhile; of a loop, of its threads
  queries::Totals totals;

  // Of the engine alone.
  WindowLatency latency;
  std::uint64_t state_bytes = 0;  // the most of one executor
  std::uint64_t kept_tuples = 0;  // of joins
  std::uint64_t kept_tuple_bytes = 0;

  /// In millions of records a second.
  double rate() const { return static_cast<double>(records) / seconds * 1e-6; }
  double latency_p50_ms() const { return static_cast<double>(latency.p50_ns) * 1e-6; }
  double latency_p99_ms() const { return static_cast<double>(latency.p99_ns) * 1e-6; }
  double processor_nanos_a_record() const { return processor_seconds * 1e9 / static_cast<double>(records); }
};

}  // namespace glaive::bench
